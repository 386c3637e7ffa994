import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import type { Cursor, Leadership } from './outbox.ts'

/**
 * Hands on what there is: what is left of the last window, and one more. A window ends where everything before is
 * decided (the horizon of transactions), so nothing that is committed late is passed over; within it, events go by the position that was drawn
 * under the lock of their execution. The cursor is saved after the effect. Gives the number of events handed on.
 */
export async function relay(
  leadership: Leadership,
  handle: (events: ExecutionEvent[]) => Promise<void>,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  let cursor = await leadership.cursor()
  let count = 0
  let opened = false
  while (!signal.aborted) {
    const events = cursor.from < cursor.to ? await leadership.read(cursor, limit) : []
    if (events.length > 0) {
      await handle(events.map(({ event }) => event))
      cursor = after(cursor, events.at(-1)!.position, events.length < limit)
      await leadership.save(cursor)
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
