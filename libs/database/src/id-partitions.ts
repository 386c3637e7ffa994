import type pg from 'pg'
import { holdLock } from './held-lock.ts'

export interface IdPartitionsOptions {
  /** Asked for when it is needed: a store may open later. */
  pool(): pg.Pool
  /** Tables of the pool's schema that are partitioned by ranges of a UUIDv7. */
  tables: readonly string[]
  span: Span
  /** How many spans beyond the one of now are kept ready. */
  ahead: number
  /** Tells the locks of these tables from others. */
  name: string
  /** By table: how full inserts may make a page, in per cent; the rest is for new versions of its rows. */
  fillfactors?: Record<string, number>
}

interface Found {
  table: string
  name: string
  span: string
  attached: boolean
  pending: boolean
}

/** Partitions of tables by the time that their ids hold: made ahead, dropped past retention, one replica at a time. */
export class IdPartitions {
  readonly #options: IdPartitionsOptions
  #names = new Set<string>()

  constructor(options: IdPartitionsOptions) {
    this.#options = options
  }

  /** Whether rows of the span of this name may be there; statements that name a partition ask first. */
  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** How many spans from now on have their partitions without a gap; 0 as well when that of now is not there. */
  spansAhead(nowMs: number): number {
    const { span } = this.#options
    const now = span.at(nowMs)
    let last = now
    while (this.#names.has(span.name(last))) last += 1
    return Math.max(last - now - 1, 0)
  }

  /**
   * Makes what is missing from the span before now to those ahead, and those `beside`; gives the number of spans ahead. The
   * first time that may be dozens of tables, for which a slow machine may take as long as it needs.
   */
  async ensure(nowMs: number, beside: number[] = []): Promise<number> {
    const { span, ahead, tables, fillfactors } = this.#options
    const now = span.at(nowMs)
    const wanted = [...Array.from({ length: ahead + 2 }, (_, index) => now - 1 + index), ...beside]
    const client = await this.#options.pool().connect()
    let failure: Error | undefined
    try {
      this.#names = attachedNames(await this.#list(client))
      if (wanted.every((one) => this.#names.has(span.name(one)))) return this.spansAhead(nowMs)
      await client.query('BEGIN')
      await client.query('SET LOCAL statement_timeout = 0')
      const lock = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))'
      await client.query({ text: lock, values: [`${this.#options.name} partitions`], ...patient })
      const found = attachedNames(await this.#list(client))
      const missing = [...new Set(wanted)].filter((one) => !found.has(span.name(one)))
      if (missing.length > 0)
        await client.query({
          text: missing.flatMap((one) => tables.map((table) => make(table, span, one, fillfactors?.[table]))).join(';'),
          ...patient,
        })
      await client.query({ text: 'COMMIT', ...patient })
      this.#names = new Set([...found, ...missing.map((one) => span.name(one))])
      return this.spansAhead(nowMs)
    } catch (error) {
      failure = error as Error
      throw error
    } finally {
      // A connection with an open transaction is not given back.
      client.release(failure)
    }
  }

  /**
   * Drops the spans that ended more than `retentionDays` ago, without holding up statements on the others; gives the tables. They
   * ended by `nowMs` and by the clock of the database: one that is ahead alone drops nothing.
   */
  async retire(nowMs: number, retentionDays: number): Promise<string[]> {
    const { span } = this.#options
    const lock = await holdLock(this.#options.pool(), `${this.#options.name} retention`, { patient: true })
    if (lock === undefined) return []
    const { client } = lock
    try {
      const { schema, databaseMs } = await lookAt(client)
      const oldest = span.name(span.at(Math.min(nowMs, databaseMs) - retentionDays * dayMs))
      const old = (await this.#list(client)).filter((found) => found.span < oldest)
      for (const found of old) this.#names.delete(found.span)
      for (const { table, name, attached, pending } of old) {
        const how = pending ? 'FINALIZE' : 'CONCURRENTLY'
        // To detach a partition waits for all that still reads it.
        const detach = `ALTER TABLE ${schema}.${table} DETACH PARTITION ${schema}.${name} ${how}`
        if (attached) await client.query({ text: detach, ...patient })
        await client.query({ text: `DROP TABLE ${schema}.${name}`, ...patient })
      }
      return old.map(({ name }) => name)
    } finally {
      lock.release()
    }
  }

  async #list(client: pg.PoolClient): Promise<Found[]> {
    const { tables, span } = this.#options
    const { rows } = await client.query<Found>(
      `SELECT p.name AS "table", c.relname AS name, right(c.relname, $2) AS span, i.inhrelid IS NOT NULL AS attached,
              coalesce(i.inhdetachpending, false) AS pending
         FROM unnest($1::text[]) AS p(name)
         JOIN pg_class c ON c.relname ~ ('^' || p.name || '_[0-9]{' || $2::integer || '}$') AND c.relkind = 'r'
          AND c.relnamespace = current_schema()::regnamespace
         LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
        ORDER BY c.relname`,
      [tables, span.nameLength],
    )
    return rows
  }
}

async function lookAt(client: pg.ClientBase): Promise<{ schema: string; databaseMs: number }> {
  const { rows } = await client.query<{ schema: string; databaseMs: number }>(
    `SELECT quote_ident(current_schema()) AS schema, extract(epoch FROM now())::float8 * 1000 AS "databaseMs"`,
  )
  return rows[0]!
}

/** Whether a statement failed because a row belongs to a span that has no partition. */
export function isMissingPartition(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return code === '23514' && String(message).startsWith('no partition')
}

const dayMs = 86_400_000
const patient = { query_timeout: 300_000 }

function attachedNames(found: Found[]): Set<string> {
  return new Set(found.filter(({ attached, pending }) => attached && !pending).map(({ span }) => span))
}

/** Made aside and then attached: that waits for no reader or writer of the other partitions. */
function make(table: string, span: Span, one: number, fillfactor = 100): string {
  const name = `${table}_${span.name(one)}`
  const [from, to] = [span.startMs(one), span.startMs(one + 1)].map(lowestIdAt)
  return `CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS) WITH (fillfactor = ${fillfactor});
    ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`
}

/** Unix time in ms that a UUIDv7 was made at. */
export function createdAtMs(id: string): number {
  return parseInt(id.slice(0, 8), 16) * 65_536 + parseInt(id.slice(9, 13), 16)
}

/** The smallest id that can be made at this time (Unix ms): a bound for ranges of ids. */
export function lowestIdAt(timeMs: number): string {
  const hex = Math.min(Math.max(Math.ceil(timeMs), 0), 0xffff_ffff_ffff)
    .toString(16)
    .padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** Pieces of time in UTC, numbered one after the other, whose names are digits and sort by time. */
export interface Span {
  /** The one that this Unix time in ms belongs to. */
  at(timeMs: number): number
  startMs(span: number): number
  name(span: number): string
  nameLength: number
}

/** Named like `20261120`. */
export const days: Span = {
  at: (timeMs) => Math.floor(timeMs / dayMs),
  startMs: (day) => day * dayMs,
  name: (day) => named(day * dayMs, 10),
  nameLength: 8,
}

/** Named like `202611`. */
export const months: Span = {
  at: (timeMs) => {
    const date = new Date(timeMs)
    return date.getUTCFullYear() * 12 + date.getUTCMonth()
  },
  startMs: (month) => Date.UTC(Math.floor(month / 12), month % 12),
  name: (month) => named(Date.UTC(Math.floor(month / 12), month % 12), 7),
  nameLength: 6,
}

function named(timeMs: number, characters: number): string {
  const date = new Date(timeMs)
  return Number.isNaN(date.getTime()) ? 'never' : date.toISOString().slice(0, characters).replaceAll('-', '')
}
