import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import type { Check } from '@automation/service'

/**
 * Takes some events in their order. They count as handled when it returns; when it throws, the same ones come again,
 * perhaps with more. `signal` is aborted when nobody waits for it any more.
 */
export type EventHandler = (events: ExecutionEvent[], signal: AbortSignal) => Promise<void>

export interface SubscribeOptions {
  /** The consumer is in no hurry: where that saves reading, events may gather for so long. */
  batchMs?: number
}

export interface Subscription {
  /** Takes no more; returns when the handler is not at work any more. */
  close(): Promise<void>
}

/**
 * Lifecycle events of executions for whoever reacts to them. Every event comes at least once; those of one execution
 * come in order, once repetitions are left out by (execution, sequence).
 */
export interface EventBus {
  /**
   * Hears of all events from the first subscription under this name on, also of those from times when nobody was
   * subscribed; a broker may begin with older ones that it still holds. Subscribers of the same name, in whatever
   * process, share the events; others have all of them each.
   */
  subscribe(consumer: string, handle: EventHandler, options?: SubscribeOptions): Subscription
  close(): Promise<void>
}

/** Events that a consumer has not handled. */
export interface Backlog {
  consumer: string
  count: number
  /** How long ago the oldest of them was, in ms; absent where a broker does not tell. */
  oldestMs?: number
}

/** A bus as the service keeps it that writes the events. */
export interface FedEventBus extends EventBus {
  /** There are new events: to be called after their commit. */
  wake(): void
  /** Names under which the outbox is read here. */
  readonly readers: string[]
  /**
   * Of what a broker has got until now: gives what tells whether all subscribers have handled it. Readers of the outbox do
   * not count.
   */
  mark(): Promise<() => Promise<boolean>>
  /** What is known at the moment; those of a broker that does not answer are left out. */
  backlogs(): Promise<Backlog[]>
  /** Always ok: events wait in the outbox while a broker is away, and nothing else waits for them. */
  check(): Check
}
