import { expect, test } from 'vitest'
import { missingParts, partsOf, pauseMs } from '../src/rules/upload-parts.ts'

test('parts cover a file without a gap, and an empty file is one empty part', () => {
  expect(partsOf(25, 10)).toEqual([
    { number: 1, from: 0, to: 10 },
    { number: 2, from: 10, to: 20 },
    { number: 3, from: 20, to: 25 },
  ])
  expect(partsOf(20, 10)).toHaveLength(2)
  expect(partsOf(0, 10)).toEqual([{ number: 1, from: 0, to: 0 }])
})

test('an upload goes on with the parts that are missing or cut', () => {
  const present = [
    { number: 1, size: 10 },
    { number: 2, size: 4 },
  ]
  expect(missingParts(partsOf(25, 10), present).map(({ number }) => number)).toEqual([2, 3])
})

test('attempts come at growing distances', () => {
  expect([1, 2, 3, 10].map(pauseMs)).toEqual([1000, 2000, 4000, 30_000])
})
