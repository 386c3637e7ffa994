import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { type Check, type Logger, pause } from '@automation/service'
import type { Backlog, EventHandler, FedEventBus, SubscribeOptions, Subscription } from './event-bus.ts'
import type { Cursor, Leadership, Outbox } from './outbox.ts'

export interface OutboxBusOptions {
  outbox: Outbox
  logger: Logger
  /** How often to look where no wake-up has come: for what other processes write, and for a lead that comes free. */
  lookMs?: number
  /** Pause after each look, in which events gather: a look costs the same for one as for many. */
  batchMs?: number
  /** The most events for one call of a handler. */
  batch?: number
}

/** An event bus without a broker: it reads the outbox itself. Nothing is read while nobody subscribes. */
export class OutboxBus implements FedEventBus {
  readonly #options: Required<OutboxBusOptions>
  readonly #consumers = new Set<Consumer>()

  constructor(options: OutboxBusOptions) {
    this.#options = { lookMs: 1000, batchMs: 20, batch: 500, ...options }
  }

  subscribe(name: string, handle: EventHandler, options: SubscribeOptions = {}): Subscription {
    const consumer = new Consumer(name, handle, { ...this.#options, ...options })
    this.#consumers.add(consumer)
    return {
      close: async () => {
        this.#consumers.delete(consumer)
        await consumer.close()
      },
    }
  }

  wake(): void {
    for (const consumer of this.#consumers) consumer.wake()
  }

  get readers(): string[] {
    return [...new Set([...this.#consumers].map(({ name }) => name))]
  }

  mark(): Promise<() => Promise<boolean>> {
    return Promise.resolve(() => Promise.resolve(true))
  }

  backlogs(): Promise<Backlog[]> {
    const { outbox } = this.#options
    return Promise.all(this.readers.map(async (consumer) => ({ consumer, ...(await outbox.backlog(consumer)) })))
  }

  check(): Check {
    return { name: 'event bus', ok: true, detail: 'in process' }
  }

  async close(): Promise<void> {
    const consumers = [...this.#consumers]
    this.#consumers.clear()
    await Promise.all(consumers.map((consumer) => consumer.close()))
  }
}

const shortestPauseMs = 100
const longestPauseMs = 30_000
const quietTransactions = 8n
const quietMs = 3000

class Consumer {
  readonly name: string
  readonly #handle: EventHandler
  readonly #options: Required<OutboxBusOptions>
  readonly #stop = new AbortController()
  readonly #loop: Promise<void>
  #news = true
  /** After a failure; longer after each in a row. */
  #pauseMs = shortestPauseMs
  #savedEmptyAt = 0
  #wake: (() => void) | undefined

  constructor(name: string, handle: EventHandler, options: Required<OutboxBusOptions>) {
    this.name = name
    this.#handle = handle
    this.#options = options
    this.#loop = this.#run()
  }

  wake(): void {
    this.#news = true
    this.#wake?.()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#wake?.()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { logger, lookMs } = this.#options
    while (!this.#stop.signal.aborted) {
      try {
        await this.#lead()
        await this.#pause(lookMs)
      } catch (error) {
        logger.warn({ err: error, consumer: this.name }, 'events could not be handed on, trying again')
        await pause(this.#pauseMs, this.#stop.signal)
        this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
      }
    }
  }

  /** Hands on as long as the lead is ours; returns when another has it. */
  async #lead(): Promise<void> {
    const leadership = await this.#options.outbox.lead(this.name)
    if (leadership === undefined) {
      this.#news = false
      // Without a pause each news would ask for the lead.
      await pause(this.#options.batchMs, this.#stop.signal)
      this.#pauseMs = shortestPauseMs
      return
    }
    try {
      while (!this.#stop.signal.aborted) {
        if ((await this.#relay(leadership)) > 0) this.#news = true
        this.#pauseMs = shortestPauseMs
        await new Promise((resolve) => setTimeout(resolve, this.#options.batchMs))
        await this.#pause(this.#options.lookMs)
      }
    } finally {
      await leadership.release()
    }
  }

  #relay(leadership: Leadership): Promise<number> {
    this.#news = false
    const { signal } = this.#stop
    const handle = (events: ExecutionEvent[]) => this.#handle(events, signal)
    const savesEmpty = (transactions: bigint) => this.#savesEmpty(transactions)
    return relay({ leadership, handle, limit: this.#options.batch, savesEmpty, signal })
  }

  /** Where nothing happens but that cursors are saved, they are so now and then only. */
  #savesEmpty(transactions: bigint): boolean {
    const now = performance.now()
    if (transactions <= quietTransactions && now - this.#savedEmptyAt < quietMs) return false
    this.#savedEmptyAt = now
    return true
  }

  /** Until there is news, or `ms` later. */
  async #pause(ms: number): Promise<void> {
    if (this.#news || this.#stop.signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }
}

interface RelayOptions {
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
