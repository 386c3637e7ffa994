import { AuditService, type AuditType } from '@automation/contract/audit/v1/audit'
import { asFailure } from '@automation/errors'
import { asService, ownContext, type Client, type Neighbours } from '@automation/rpc'
import { Periodic, type Logger } from '@automation/service'
import type pg from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { outboxColumns } from './record-audit.ts'

export interface AuditRelayOptions {
  /** The service whose outbox it is. */
  service: string
  /** A statement on the schema of that service. */
  query<R extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<R[]>
  neighbours: Neighbours
  metrics: Registry
  logger: Logger
  everyMs?: number
}

interface Row {
  id: string
  team: string
  type: AuditType
  event: string
  entity_id: string
  actor: string
  initiated_by: string | null
  ip: string | null
}

const atOnce = 500
const callTimeoutMs = 10_000
const countedUpTo = 100_000

/**
 * Brings the records of a service's outbox to the catalog, oldest first, and then removes them. They stay while the catalog
 * is away. Any number of replicas may do it at the same time: what is appended twice is there once.
 */
export class AuditRelay {
  readonly #options: AuditRelayOptions
  readonly #records: Client<typeof AuditService>
  readonly #gauges: ReturnType<typeof gaugesOf>
  readonly #relaying: Periodic
  #isCut = false

  constructor(options: AuditRelayOptions) {
    const { neighbours, metrics, logger, everyMs = 1000 } = options
    this.#options = options
    this.#records = neighbours.client(AuditService)
    this.#gauges = gaugesOf(metrics)
    this.#relaying = new Periodic('audit records', everyMs, logger, (signal) => this.#turn(signal))
  }

  start(): void {
    this.#relaying.start()
  }

  /** What is left is brought by the next start, or by another replica. */
  async stop(): Promise<void> {
    await this.#relaying.stop()
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { logger } = this.#options
    try {
      while (!signal.aborted && (await this.#bring()) === atOnce);
      if (this.#isCut) logger.info('audit records reach the catalog again')
      this.#isCut = false
    } catch (error) {
      // Told once, not with every turn.
      if (!this.#isCut) logger.warn({ err: error }, 'audit records do not reach the catalog, and wait')
      this.#isCut = true
      if (asFailure(error).kind === 'internal') throw error
    } finally {
      await this.#measure()
    }
  }

  async #measure(): Promise<void> {
    const { query, service } = this.#options
    const text = `SELECT (SELECT count(*)::integer FROM (SELECT FROM audit_outbox LIMIT ${countedUpTo}) AS waiting) AS count,
                         (SELECT id FROM audit_outbox ORDER BY id LIMIT 1) AS oldest`
    const [waiting] = await query<{ count: number; oldest: string | null }>({ name: 'count_audit', text })
    const ageMs = waiting?.oldest ? Math.max(Date.now() - timeOf(waiting.oldest), 0) : 0
    this.#gauges.records.set({ service }, waiting?.count ?? 0)
    this.#gauges.oldest.set({ service }, ageMs / 1000)
  }

  async #bring(): Promise<number> {
    const { query, service } = this.#options
    const text = `SELECT ${outboxColumns} FROM audit_outbox ORDER BY id LIMIT ${atOnce}`
    const rows = await query<Row>({ name: 'read_audit', text })
    if (rows.length === 0) return 0
    const caller = asService(service)
    await this.#records.appendAuditRecords({ records: rows.map(recordOf) }, ownContext(caller, callTimeoutMs))
    const values = [rows.map(({ id }) => id)]
    await query({ name: 'remove_audit', text: 'DELETE FROM audit_outbox WHERE id = ANY ($1::uuid[])', values })
    return rows.length
  }
}

function recordOf({ id, team, type, event, entity_id, actor, initiated_by, ip }: Row) {
  return {
    ...{ id, team, type, event, entityId: entity_id, user: actor },
    initiatedBy: initiated_by ?? undefined,
    ip: ip ?? undefined,
  }
}

/** Unix time in ms that a record was made at, by its UUIDv7. */
function timeOf(id: string): number {
  return parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}

/** The same for all services of a process. */
function gaugesOf(registry: Registry): Record<'records' | 'oldest', Gauge<'service'>> {
  const gauge = (name: string, help: string) =>
    (registry.getSingleMetric(name) as Gauge<'service'> | undefined) ??
    new Gauge({ name, help, labelNames: ['service'], registers: [registry] })
  return {
    records: gauge('audit_outbox_records', 'Audit records of a service that have not reached the catalog yet'),
    oldest: gauge('audit_outbox_oldest_seconds', 'Age of the oldest audit record that has not reached the catalog yet'),
  }
}
