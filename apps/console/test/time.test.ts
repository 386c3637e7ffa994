import { expect, it } from 'vitest'
import { duration } from '../src/parts/time.tsx'

it('a length of time is in whole units, none of them full', () => {
  expect([0.4, 999, 999.6, 1200, 9960, 59_400].map(duration)).toEqual([
    '0 ms',
    '999 ms',
    '1.0 s',
    '1.2 s',
    '10 s',
    '59 s',
  ])
  expect([59_960, 119_700, 3_599_700].map(duration)).toEqual(['1 min 0 s', '2 min 0 s', '1 h 0 min'])
  expect(duration(7_384_000)).toBe('2 h 3 min')
})
