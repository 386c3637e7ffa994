import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import type { Cursor, Leadership } from './outbox.ts'

export interface RelayOptions {
  leadership: Leadership
  handle(events: ExecutionEvent[]): Promise<void>
  /** The most events for one call of the handler. */
  limit: number
  /** Whether to save that a window of so many transactions had nothing for this consumer. */
  savesEmpty(transactions: bigint): boolean
  signal: AbortSignal
}

/**
 * Hands on what there is: what is left of the last window, and one more. A window ends where everything before is
 * decided (the horizon of transactions), so nothing that is committed late is passed over; within it, events go by the
 * position that was drawn under the lock of their execution. The cursor is saved after the effect. Gives the number of
 * events handed on.
 */
export async function relay({ leadership, handle, limit, savesEmpty, signal }: RelayOptions): Promise<number> {
  let cursor = await leadership.cursor()
  let count = 0
  let opened = false
  while (!signal.aborted) {
    if (cursor.from < cursor.to) {
      const events = await leadership.read(cursor, limit)
      if (events.length > 0) await handle(events.map(({ event }) => event))
      const mayStay = events.length === 0 && cursor.position === 0n && !savesEmpty(cursor.to - cursor.from)
      cursor = after(cursor, events.at(-1)?.position ?? 0n, events.length < limit)
      if (!mayStay) await leadership.save(cursor)
      count += events.length
      continue
    }
    if (opened) break
    opened = true
    const horizon = await leadership.horizon()
    if (horizon <= cursor.to) break
    cursor = { from: cursor.to, to: horizon, position: 0n }
  }
  return count
}

function after({ from, to }: Cursor, position: bigint, wasLast: boolean): Cursor {
  return wasLast ? { from: to, to, position: 0n } : { from, to, position }
}
