import type { AuditEntry } from '@automation/audit'
import { asFailure } from '@automation/errors'
import type { Logger } from '@automation/service'
import type { Counter } from 'prom-client'
import { v7 } from 'uuid'
import { appendExchanges, type ExchangeRow } from './store/audit-records.ts'
import type { Store } from './store/store.ts'

const windowMs = 60_000
/** Rows that a replica writes a minute, of each event: of a client id, of a team, and in all. */
const most = { client: 10, team: 100, all: 1000 }
const collectedMs = 250

/** An API token that was exchanged, or was not. */
export interface Exchange {
  team: string
  /** As it was claimed. */
  clientId: string
  /** Absent: nobody knows who it was. */
  name?: string
  ip: string | undefined
  event: Extract<AuditEntry['event'], 'exchanged' | 'exchange_failed'>
}

export interface ExchangeRecordsOptions {
  store: Store
  /** Records by outcome: written, dropped. */
  counter: Counter<'outcome'>
  logger: Logger
}

/**
 * Keeps audit records of exchanges: in batches and behind the answers, so that no caller waits for them, and only as many
 * as a flood of strangers may cost. Of a client's exchanges from one address one a minute is kept.
 */
export class ExchangeRecords {
  readonly #options: ExchangeRecordsOptions
  readonly #windows = new Map<string, { count: number; endsMs: number }>()
  #sweptMs = 0
  #waiting: ExchangeRow[] = []
  #timer: NodeJS.Timeout | undefined
  #writing = Promise.resolve()

  constructor(options: ExchangeRecordsOptions) {
    this.#options = options
  }

  note(exchange: Exchange): void {
    const { team, clientId, name = 'stranger', ip, event } = exchange
    const taken = this.#take(exchange)
    if (taken === 'dropped') this.#options.counter.inc({ outcome: 'dropped' })
    if (taken !== 'kept') return
    this.#waiting.push({ id: v7(), team, entityId: clientId, user: name, ip: ip ?? null, event })
    this.#timer ??= setTimeout(() => void this.#write(), collectedMs).unref()
  }

  /** Writes what is waiting. */
  async close(): Promise<void> {
    await this.#write()
  }

  #take({ team, clientId, name, ip, event }: Exchange): 'kept' | 'known' | 'dropped' {
    const caller = `${event} caller ${clientId} ${ip}`
    if (event === 'exchanged' && this.#count(caller) > 0) return 'known'
    // Of their own for those who are known, whatever strangers try.
    const kind = `${event} ${name === undefined ? 'stranger' : 'known'}`
    const limits = [
      [`${kind} client ${clientId}`, most.client],
      [`${kind} team ${team}`, most.team],
      [kind, most.all],
    ] as const
    if (limits.some(([key, limit]) => this.#count(key) >= limit)) return 'dropped'
    for (const key of [caller, ...limits.map(([name]) => name)]) this.#add(key)
    return 'kept'
  }

  /** How many there were within the minute that began with the first one. */
  #count(key: string): number {
    const window = this.#windows.get(key)
    return window === undefined || performance.now() >= window.endsMs ? 0 : window.count
  }

  #add(key: string): void {
    const nowMs = performance.now()
    if (nowMs >= this.#sweptMs + windowMs) {
      this.#sweptMs = nowMs
      for (const [each, { endsMs }] of this.#windows) if (nowMs >= endsMs) this.#windows.delete(each)
    }
    const count = this.#count(key)
    const endsMs = count === 0 ? nowMs + windowMs : this.#windows.get(key)!.endsMs
    this.#windows.set(key, { count: count + 1, endsMs })
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#writeWaiting())
    return this.#writing
  }

  async #writeWaiting(): Promise<void> {
    const { store, counter, logger } = this.#options
    const rows = this.#waiting.splice(0)
    if (rows.length === 0) return
    try {
      counter.inc({ outcome: 'written' }, await appendExchanges(store, rows))
    } catch (error) {
      counter.inc({ outcome: 'dropped' }, rows.length)
      logger.warn(
        { err: asFailure(error).cause ?? error, count: rows.length },
        'audit records of exchanges were not kept',
      )
    }
  }
}
