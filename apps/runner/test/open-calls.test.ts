import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { OpenCalls } from '../src/runs/open-calls.ts'

beforeEach(() => void vi.useFakeTimers().advanceTimersByTime(1000))
afterEach(() => void vi.useRealTimers())

/** How many of so many equal calls are handed on at once, and how long it takes until all are. */
async function handedOn(count: number, payload: Buffer) {
  let handed = 0
  const open = new OpenCalls({
    handOn: ({ length }) => {
      handed += 1
      open.answered(length)
    },
    listen: () => {},
    isAmongOthers: () => false,
  })
  for (let each = 0; each < count; each += 1) open.add(payload)
  const atOnce = handed
  const since = performance.now()
  while (handed < count) await vi.advanceTimersToNextTimerAsync()
  return { atOnce, ms: Math.round(performance.now() - since) }
}

test('calls take turns by what they have', async () => {
  const body = (bytes: number) => Buffer.from(`{}\n${'x'.repeat(bytes)}`)
  expect(await handedOn(64, Buffer.from('{}'))).toEqual({ atOnce: 64, ms: 0 })
  expect(await handedOn(30, body(2 ** 20))).toEqual({ atOnce: 8, ms: 197 })
  // What has to be parsed takes more.
  expect(await handedOn(10, Buffer.from(JSON.stringify('x'.repeat(2 ** 17))))).toEqual({ atOnce: 4, ms: 98 })
})
