import { setImmediate } from 'node:timers/promises'
import { LogLevel } from '@automation/contract/execution/v1/execution'
import { memoryAtRest } from '@automation/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { maskOf } from '../src/logs/masking.ts'
import { RunLog } from '../src/logs/run-log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const logOf = (takes: () => boolean, sent: unknown[] = []) =>
  new RunLog({
    maxLines: 10,
    maxBytes: 1000,
    mask: maskOf([]),
    send: (chunk) => takes() && sent.push(...chunk.entries.map(({ message }) => message)) > 0,
  })

test('a chunk that nobody takes is offered again', () => {
  let isThere = false
  const sent: unknown[] = []
  const log = logOf(() => isThere, sent)
  log.add(LogLevel.INFO, 'a', false)
  vi.advanceTimersByTime(10_000)
  isThere = true
  vi.advanceTimersByTime(10_000)
  expect([sent, vi.getTimerCount()]).toEqual([['a'], 0])
})

test('the log of a run that nobody asks for is given up where nobody takes it', () => {
  const log = logOf(() => false)
  log.add(LogLevel.INFO, 'a', false)
  log.discard()
  expect(vi.getTimerCount()).toBe(0)
})

test('the last word goes with the result alone, however much is pending: the end of a run may still be another', () => {
  const sent: unknown[] = []
  const log = logOf(() => true, sent)
  log.add(LogLevel.INFO, 'a', false)
  log.addFinal(LogLevel.ERROR, 'why '.repeat(20_000))
  expect(sent).toEqual([])
  expect(log.takeRest()?.entries.map(({ message }) => message.slice(0, 4))).toEqual(['a', 'why '])
  expect(vi.getTimerCount()).toBe(0)
})

test('what was sent is repeated for a while, and held no longer, also where the run prints no more', async () => {
  const sent: WeakRef<object>[] = []
  const send = (chunk: object) => sent.push(new WeakRef(chunk)) > 0
  const log = new RunLog({ maxLines: 10, maxBytes: 1000, mask: maskOf([]), send })
  log.add(LogLevel.INFO, 'a', false)
  log.flush()
  vi.advanceTimersByTime(4000)
  log.repeat()
  expect(sent).toHaveLength(2)
  vi.advanceTimersByTime(4000)
  log.repeat()
  expect(sent).toHaveLength(3)
  vi.advanceTimersByTime(6000)
  await setImmediate()
  memoryAtRest()
  expect(sent.map((each) => each.deref())).toEqual([undefined, undefined, undefined])
  log.repeat()
  expect(sent).toHaveLength(3)
})
