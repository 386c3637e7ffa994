import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ReaderWatch } from '../src/streams/reader-watch.ts'

let cuts: number
const outgoing = { destroy: () => void (cuts += 1) as never }

beforeEach(() => {
  cuts = 0
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

test('who takes nothing for a minute is cut, who goes on is not', () => {
  const watch = new ReaderWatch(outgoing, Infinity)
  for (let count = 0; count < 5; count++) {
    vi.advanceTimersByTime(59_000)
    watch.progress()
  }
  expect(cuts).toBe(0)
  vi.advanceTimersByTime(60_000)
  expect(cuts).toBe(1)
})

test('the end of the access token cuts it, and nothing does once it is over', () => {
  const watch = new ReaderWatch(outgoing, Date.now() + 5000)
  vi.advanceTimersByTime(5000)
  expect(cuts).toBe(1)
  const over = new ReaderWatch(outgoing, Date.now() + 5000)
  over.close()
  vi.advanceTimersByTime(120_000)
  expect(cuts).toBe(1)
  watch.close()
})
