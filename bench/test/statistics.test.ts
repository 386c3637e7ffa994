import { expect, test } from 'vitest'
import { percentile, spreads, type Sample } from '../src/statistics.ts'

test('a percentile is a value that was measured', () => {
  const sorted = Array.from({ length: 200 }, (_, index) => index + 1)
  expect(percentile(sorted, 0.5)).toBe(100)
  expect(percentile(sorted, 0.99)).toBe(198)
  expect(percentile([7], 0.99)).toBe(7)
  expect(percentile([], 0.5)).toBe(0)
})

test('repeats are told by median, smallest and largest', () => {
  const samples: Sample[] = [{ ms: 5 }, { ms: 1 }, { ms: 3, other: 8 }]
  expect(spreads(samples)).toEqual({ ms: { median: 3, min: 1, max: 5 }, other: { median: 8, min: 8, max: 8 } })
  expect(spreads([{ ms: 1 }, { ms: 2 }])['ms']?.median).toBe(1.5)
})
