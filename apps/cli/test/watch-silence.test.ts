import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchSilence } from '../src/runs/watch-silence.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a silence is told after 10 s and with each doubling; what is heard ends it, and nothing is told after the end', () => {
  const told: number[] = []
  const silence = watchSilence((seconds) => told.push(seconds))
  vi.advanceTimersByTime(9_999)
  silence.heard()
  vi.advanceTimersByTime(9_999)
  expect(told).toEqual([])
  vi.advanceTimersByTime(30_001)
  expect(told).toEqual([10, 20, 40])
  silence.heard()
  vi.advanceTimersByTime(10_000)
  expect(told).toEqual([10, 20, 40, 10])
  silence.end()
  vi.advanceTimersByTime(100_000)
  expect(told).toHaveLength(4)
})
