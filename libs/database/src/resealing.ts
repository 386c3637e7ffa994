import { Failure } from '@automation/errors'
import { principalIn, type CallContext } from '@automation/rpc'
import { failPoint, Periodic, type Logger, type Registry } from '@automation/service'
import type pg from 'pg'
import { Gauge } from 'prom-client'
import type { SecretBox } from './secret-box.ts'

/** A table with secrets: `id` names a row, of the SQL type `idType`; `key_id` is the key of all its secrets. */
export interface SealedTable {
  /** What it holds, for people: `variables`. */
  kind: string
  table: string
  id: string
  idType: 'uuid' | 'text'
  /** Sealed columns, each with the context that a row's secret is bound to. */
  secrets: { column: string; context: (id: string) => string }[]
  /** An SQL condition of the rows that must open; all, where there is none. */
  needed?: string
}

export interface SealedCount {
  kind: string
  total: number
  /** Sealed by another key of the box than the one that seals. */
  onOlderKeys: number
  /** Those among them that did not open when they were last tried. */
  damaged: number
}

interface ResealingOptions {
  /** The metric `<service>_secrets_on_older_keys` is its. */
  service: string
  query<R extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<R[]>
  box: SecretBox
  tables: SealedTable[]
  logger: Logger
  metrics: Registry
}

type SealedRow = { id: string; keyId: string } & Record<`s${number}`, Buffer>

const batchRows = 500
const stepRows = 10_000
const everyMs = 600_000
const mostAtOnce = 10_000

/**
 * Seals anew what older keys of ENCRYPTION_KEY have sealed. How far it is, the rows say: it may end anywhere, and run twice
 * at once.
 */
export class Resealing {
  readonly #options: ResealingOptions
  readonly #damaged = new Map<SealedTable, number>()
  readonly #left: Gauge<'kind'>
  readonly #upkeep: Periodic
  /** For operators: seals up to `limit` rows anew, 10,000 at the most, and tells what there is. */
  readonly handlers = {
    reseal: async ({ limit }: { limit: number }, context: CallContext) => {
      principalIn(context, 'operator')
      const resealed = await this.reseal(Math.min(limit, mostAtOnce), context.signal)
      const secrets = (await this.counts()).map(({ kind, total, onOlderKeys, damaged }) => ({
        kind,
        total: BigInt(total),
        onOlderKeys: BigInt(onOlderKeys),
        damaged: BigInt(damaged),
      }))
      return { keyId: this.keyId, resealed, secrets }
    },
  }

  constructor(options: ResealingOptions) {
    this.#options = options
    const { service, logger, metrics } = options
    this.#left = new Gauge({
      name: `${service}_secrets_on_older_keys`,
      help: 'Stored secrets that are encrypted with another key than the first one in ENCRYPTION_KEY',
      labelNames: ['kind'],
      registers: [metrics],
    })
    this.#upkeep = new Periodic('sealing secrets anew', everyMs, logger, (signal) => this.#resealAll(signal))
  }

  /** Begins to seal anew in the background, and looks again every ten minutes. */
  start(): void {
    this.#upkeep.start()
    this.#upkeep.soon()
  }

  stop(): Promise<void> {
    return this.#upkeep.stop()
  }

  get keyId(): string {
    return this.#options.box.keyId
  }

  /** Fails with encryption_key_missing where something is kept that no key opens. */
  async requireKnownKeys(): Promise<void> {
    const { query, box, tables } = this.#options
    const text = tables
      .map(({ table, needed = 'true' }) => `SELECT key_id AS "keyId" FROM ${table} WHERE ${needed}`)
      .join(' UNION ')
    const unknown = (await query<{ keyId: string }>({ text })).filter(({ keyId }) => !box.knows(keyId))
    if (unknown.length === 0) return
    const ids = unknown.map(({ keyId }) => keyId).join(', ')
    throw new Failure(
      'failed_precondition',
      'encryption_key_missing',
      `ENCRYPTION_KEY lacks a key that stored secrets were encrypted with (key id ${ids}); put it back, after the new one`,
    )
  }

  async counts(): Promise<SealedCount[]> {
    const { query, box, tables } = this.#options
    const counts = await Promise.all(
      tables.map(async (sealed) => {
        const [row] = await query<{ total: string; older: string }>({
          text: `SELECT count(key_id) AS total, count(*) FILTER (WHERE key_id = ANY($1)) AS older FROM ${sealed.table}`,
          values: [box.olderKeyIds],
        })
        const onOlderKeys = Number(row?.older ?? 0)
        const damaged = Math.min(this.#damaged.get(sealed) ?? 0, onOlderKeys)
        return { kind: sealed.kind, total: Number(row?.total ?? 0), onOlderKeys, damaged }
      }),
    )
    for (const { kind, onOlderKeys } of counts) this.#left.set({ kind }, onOlderKeys)
    return counts
  }

  /** Seals at most `limit` rows anew, until `signal` is aborted; how many it did. */
  async reseal(limit: number, signal?: AbortSignal): Promise<number> {
    if (this.#options.box.olderKeyIds.length === 0) return 0
    let resealed = 0
    for (const table of this.#options.tables) {
      if (resealed >= limit) break
      resealed += await this.#resealTable(table, limit - resealed, signal)
    }
    return resealed
  }

  async #resealAll(signal: AbortSignal): Promise<void> {
    for (let more = true; more && !signal.aborted;) {
      const resealed = await this.reseal(stepRows, signal)
      const left = (await this.counts()).map(({ kind, onOlderKeys }) => `${onOlderKeys} ${kind}`)
      if (resealed > 0) this.#options.logger.info({ resealed, left }, 'sealed stored secrets anew')
      more = resealed === stepRows
    }
  }

  async #resealTable(sealed: SealedTable, limit: number, signal?: AbortSignal): Promise<number> {
    const damaged: string[] = []
    let resealed = 0
    let after: string | undefined
    for (let more = true; more && resealed < limit && signal?.aborted !== true;) {
      const rows = await this.#olderRows(sealed, after, Math.min(batchRows, limit - resealed))
      resealed += await this.#writeFresh(sealed, rows, damaged)
      if (rows.length > 0) failPoint('secrets-resealed')
      after = rows.at(-1)?.id
      more = rows.length > 0
    }
    if (after === undefined) this.#damaged.set(sealed, damaged.length)
    if (damaged.length > 0)
      this.#options.logger.error({ kind: sealed.kind, ids: damaged.slice(0, 20) }, 'stored secrets are damaged')
    return resealed
  }

  #olderRows({ table, id, secrets }: SealedTable, after: string | undefined, rows: number): Promise<SealedRow[]> {
    const columns = secrets.map(({ column }, index) => `${column} AS s${index}`).join(', ')
    const from = after === undefined ? '' : `AND ${id} > $2`
    return this.#options.query<SealedRow>({
      text: `SELECT ${id} AS id, key_id AS "keyId", ${columns} FROM ${table} WHERE key_id = ANY($1) ${from}
             ORDER BY ${id} LIMIT ${rows}`,
      values: [this.#options.box.olderKeyIds, ...(after === undefined ? [] : [after])],
    })
  }

  /** What was written meanwhile stays as it is. */
  async #writeFresh(sealed: SealedTable, rows: SealedRow[], damaged: string[]): Promise<number> {
    const { table, id, idType, secrets } = sealed
    const fresh = rows.flatMap((row) => {
      const texts = this.#fresh(row, sealed)
      if (texts === undefined) damaged.push(row.id)
      return texts === undefined ? [] : [{ row, texts }]
    })
    if (fresh.length === 0) return 0
    const sets = secrets.map(({ column }, index) => `${column} = fresh.s${index}`).join(', ')
    const names = secrets.map((_, index) => `s${index}`).join(', ')
    const same = secrets.map(({ column }, index) => `sealed.${column} = fresh.f${index}`).join(' AND ')
    const formerNames = secrets.map((_, index) => `f${index}`).join(', ')
    const arrays = secrets.map((_, index) => `$${3 + index}::bytea[]`)
    const formerArrays = secrets.map((_, index) => `$${3 + secrets.length + index}::bytea[]`)
    const done = await this.#options.query({
      text: `UPDATE ${table} sealed SET key_id = $1, ${sets}
             FROM unnest($2::${idType}[], ${[...arrays, ...formerArrays].join(', ')})
               AS fresh (id, ${names}, ${formerNames})
             WHERE sealed.${id} = fresh.id AND ${same} RETURNING 1`,
      values: [
        this.keyId,
        fresh.map(({ row }) => row.id),
        ...secrets.map((_, index) => fresh.map(({ texts }) => texts[index])),
        ...secrets.map((_, index) => fresh.map(({ row }) => row[`s${index}`])),
      ],
    })
    return done.length
  }

  #fresh(row: SealedRow, { secrets }: SealedTable): Buffer[] | undefined {
    const { box } = this.#options
    try {
      return secrets.map(({ context }, index) => {
        const plain = box.open({ ciphertext: row[`s${index}`]!, keyId: row.keyId }, context(row.id))
        return Buffer.from(box.seal(plain, context(row.id)).ciphertext)
      })
    } catch {
      // Damaged: it stays as it is, and is counted.
      return undefined
    }
  }
}
