import type { AuditRecord } from '@automation/contract/audit/v1/audit'
import { createdAtMs, IdPartitions, months } from '@automation/database'
import { invalid } from '@automation/errors'
import type { Logger } from '@automation/service'
import type { Gauge } from 'prom-client'
import { isUuid } from '@automation/contract/forms'
import { appendAuditRecords, databaseTimeMs } from './store/audit-records.ts'
import type { Store } from './store/store.ts'

interface AuditTrailOptions {
  store: Store
  retentionDays: number
  /** Months from now on for which there are partitions. */
  monthsAhead: Gauge
  logger: Logger
}

const dayMs = 86_400_000

/** What is kept of who did what: months of records, made ahead and dropped past retention. */
export class AuditTrail {
  readonly #options: AuditTrailOptions
  readonly #partitions: IdPartitions

  constructor(options: AuditTrailOptions) {
    this.#options = options
    const pool = () => options.store.pool
    this.#partitions = new IdPartitions({ pool, tables: ['audit_records'], span: months, ahead: 3, name: 'audit' })
  }

  /** Makes the months to come. */
  async prepare(): Promise<void> {
    const now = Date.now()
    try {
      await this.#partitions.ensure(now)
    } finally {
      this.#options.monthsAhead.set(this.#partitions.spansAhead(now))
    }
  }

  /** Drops the months that are past retention as a whole. */
  async retire(): Promise<void> {
    const { retentionDays, logger } = this.#options
    const dropped = await this.#partitions.retire(Date.now(), retentionDays)
    if (dropped.length > 0) logger.info({ tables: dropped }, 'dropped audit records past retention')
  }

  /** Keeps what is not kept already, and is not past retention. */
  async append(records: readonly AuditRecord[]): Promise<void> {
    const wrong = records.findIndex(({ id }) => !isUuid(id))
    if (wrong !== -1) throw invalid(`/records/${wrong}/id`, 'must be a UUID')
    // Records that another clock has made: as everywhere, that of the database says what is past.
    const now = await databaseTimeMs(this.#options.store)
    const oldest = months.at(now - this.#options.retentionDays * dayMs)
    const kept = records.filter(({ id }) => monthOf(id) >= oldest)
    if (kept.length === 0) return
    const needed = [...new Set(kept.map(({ id }) => monthOf(id)))]
    // What waited for long, or comes from a clock that is ahead.
    if (!needed.every((month) => this.#partitions.has(months.name(month)))) await this.#partitions.ensure(now, needed)
    await appendAuditRecords(this.#options.store, kept)
  }
}

function monthOf(id: string): number {
  return months.at(createdAtMs(id))
}
