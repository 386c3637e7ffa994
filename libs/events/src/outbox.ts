import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'

/**
 * How far a consumer has got: all events of transactions before `from`, and of those from `from` until before `to`
 * the ones up to `position`.
 */
export interface Cursor {
  from: bigint
  to: bigint
  position: bigint
}

export interface OutboxEvent {
  position: bigint
  event: ExecutionEvent
}

/** What a consumer has before it. */
export interface Waiting {
  /** Events that it has not handled, up to some bound. */
  count: number
  /** How long ago the oldest of them was, in ms; 0 where there is none. */
  oldestMs: number
}

/** Rows that are events as well, as the service that writes them shows them to the relay. */
export interface Outbox {
  /** The right to relay to this consumer; undefined while somebody else has it. */
  lead(consumer: string): Promise<Leadership | undefined>
  backlog(consumer: string): Promise<Waiting>
}

/** All its calls fail once the right is lost. */
export interface Leadership {
  /** The consumer's cursor; a new consumer begins now. */
  cursor(): Promise<Cursor>
  /** The number of the oldest transaction that is not over: below it, nothing can appear any more. */
  horizon(): Promise<bigint>
  /** The next events within the cursor's window, by position; those that the consumer has no use for may be left out. */
  read(cursor: Cursor, limit: number): Promise<OutboxEvent[]>
  save(cursor: Cursor): Promise<void>
  release(): Promise<void>
}
