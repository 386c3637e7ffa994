import type { AuditEntry } from '@automation/audit'
import { BoundedRows, type Logger } from '@automation/service'
import type { Counter } from 'prom-client'
import { v7 } from 'uuid'
import { appendExchanges, type ExchangeRow } from '../store/audit-records.ts'
import type { Store } from '../store/store.ts'

/** Rows that a replica writes a minute, of each event: of a client id, of a team, and in all. */
const most = { client: 10, team: 100, all: 1000 }

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

/** Keeps audit records of exchanges, as many as are bounded. Of a client's exchanges from one address one a minute is kept. */
export class ExchangeRecords {
  readonly #rows: BoundedRows<ExchangeRow>

  constructor(store: Store, counter: Counter<'outcome'>, logger: Logger) {
    const write = (rows: ExchangeRow[]) => appendExchanges(store, rows)
    this.#rows = new BoundedRows({ write, counter, logger, what: 'audit records of exchanges' })
  }

  note({ team, clientId, name, ip, event }: Exchange): void {
    const caller = `${event} caller ${clientId} ${ip}`
    if (event === 'exchanged' && this.#rows.count(caller) > 0) return
    // Of their own for those who are known, whatever strangers try.
    const kind = `${event} ${name === undefined ? 'stranger' : 'known'}`
    this.#rows.note({ id: v7(), team, event, entityId: clientId, user: name ?? 'stranger', ip }, [
      [`${kind} client ${clientId}`, most.client],
      [`${kind} team ${team}`, most.team],
      [kind, most.all],
      [caller, Infinity],
    ])
  }

  /** Writes what is waiting. */
  close(): Promise<void> {
    return this.#rows.close()
  }
}
