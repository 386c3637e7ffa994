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
  readonly #counts = new Map<string, number>()
  #windowEndsMs = 0
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

  #take({ team, clientId, ip, event }: Exchange): 'kept' | 'known' | 'dropped' {
    const nowMs = performance.now()
    if (nowMs >= this.#windowEndsMs) {
      this.#counts.clear()
      this.#windowEndsMs = nowMs + windowMs
    }
    const caller = `${event} caller ${clientId} ${ip}`
    if (event === 'exchanged' && this.#counts.has(caller)) return 'known'
    const names = [
      [`${event} client ${clientId}`, most.client],
      [`${event} team ${team}`, most.team],
      [event, most.all],
    ] as const
    if (names.some(([name, limit]) => (this.#counts.get(name) ?? 0) >= limit)) return 'dropped'
    for (const name of [caller, ...names.map(([name]) => name)])
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    return 'kept'
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
    let outcome = 'written'
    try {
      await appendExchanges(store, rows)
    } catch (error) {
      outcome = 'dropped'
      logger.warn(
        { err: asFailure(error).cause ?? error, count: rows.length },
        'audit records of exchanges were not kept',
      )
    }
    counter.inc({ outcome }, rows.length)
  }
}
