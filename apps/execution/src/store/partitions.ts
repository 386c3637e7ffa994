import type pg from 'pg'
import { dayName, lowestIdAt } from '../execution-id.ts'

const dayMs = 86_400_000
const tables = ['executions', 'timeline_events', 'log_chunks'] as const
const daysAhead = 14

interface Found {
  table: string
  name: string
  day: string
  attached: boolean
  pending: boolean
}

/** The daily partitions of executions, their timeline and their logs. */
export class Partitions {
  readonly #pool: pg.Pool
  #days = new Set<string>()

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** Whether rows of this day may be there; statements that name a partition ask first. */
  has(day: string): boolean {
    return this.#days.has(day)
  }

  /** How many days from today on have their partitions without a gap; 0 as well when today's are not there. */
  daysAhead(nowMs: number): number {
    const today = Math.floor(nowMs / dayMs)
    let last = today
    while (this.#days.has(dayName(last))) last += 1
    return Math.max(last - today - 1, 0)
  }

  /**
   * Makes what is missing from yesterday to 14 days ahead, one replica at a time; gives the number of days ahead. The first
   * time that is 48 tables, for which a slow machine may take as long as it needs.
   */
  async ensure(nowMs: number): Promise<number> {
    const today = Math.floor(nowMs / dayMs)
    const wanted = Array.from({ length: daysAhead + 2 }, (_, index) => today - 1 + index)
    const client = await this.#pool.connect()
    let failure: Error | undefined
    try {
      this.#days = attachedDays(await list(client))
      if (wanted.every((day) => this.#days.has(dayName(day)))) return this.daysAhead(nowMs)
      await client.query('BEGIN')
      await client.query('SET LOCAL statement_timeout = 0')
      const lock = `SELECT pg_advisory_xact_lock(hashtextextended('execution partitions', 0))`
      await client.query({ text: lock, ...patient })
      const found = attachedDays(await list(client))
      const missing = wanted.filter((day) => !found.has(dayName(day)))
      if (missing.length > 0)
        await client.query({
          text: missing.flatMap((day) => tables.map((table) => make(table, day))).join(';'),
          ...patient,
        })
      await client.query({ text: 'COMMIT', ...patient })
      this.#days = new Set([...found, ...missing.map(dayName)])
      return this.daysAhead(nowMs)
    } catch (error) {
      failure = error as Error
      throw error
    } finally {
      // A connection with an open transaction is not given back.
      client.release(failure)
    }
  }

  /** Drops the days that ended more than `retentionDays` ago, without holding up statements on the others. */
  async retire(nowMs: number, retentionDays: number): Promise<string[]> {
    const oldest = dayName(Math.floor(nowMs / dayMs) - retentionDays)
    const client = await this.#pool.connect()
    try {
      const { rows } = await client.query<{ mine: boolean }>(
        `SELECT pg_try_advisory_lock(hashtextextended('execution retention', 0)) AS mine`,
      )
      if (!rows[0]?.mine) return []
      // To detach a day waits for all that still reads it.
      await client.query('SET statement_timeout = 0')
      const old = (await list(client)).filter(({ day }) => day < oldest)
      for (const { day } of old) this.#days.delete(day)
      for (const { table, name, attached, pending } of old) {
        const how = pending ? 'FINALIZE' : 'CONCURRENTLY'
        if (attached) await client.query({ text: `ALTER TABLE ${table} DETACH PARTITION ${name} ${how}`, ...patient })
        await client.query({ text: `DROP TABLE ${name}`, ...patient })
      }
      return old.map(({ name }) => name)
    } finally {
      // Closed, so that the lock goes with it whatever happened.
      client.release(true)
    }
  }
}

/** Whether a statement failed because a row belongs to a day that has no partition. */
export function isMissingPartition(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return code === '23514' && String(message).startsWith('no partition')
}

const patient = { query_timeout: 300_000 }

function attachedDays(found: Found[]): Set<string> {
  return new Set(found.filter(({ attached, pending }) => attached && !pending).map(({ day }) => day))
}

async function list(client: pg.PoolClient): Promise<Found[]> {
  const { rows } = await client.query<Found>(
    `SELECT p.name AS "table", c.relname AS name, right(c.relname, 8) AS day, i.inhrelid IS NOT NULL AS attached,
            coalesce(i.inhdetachpending, false) AS pending
       FROM unnest($1::text[]) AS p(name)
       JOIN pg_class c ON c.relname ~ ('^' || p.name || '_[0-9]{8}$') AND c.relkind = 'r'
        AND c.relnamespace = current_schema()::regnamespace
       LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
      ORDER BY c.relname`,
    [tables],
  )
  return rows
}

/** Made aside and then attached: that waits for no reader or writer of the other partitions. */
function make(table: string, day: number): string {
  const name = `${table}_${dayName(day)}`
  return `CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS);
    ALTER TABLE ${table} ATTACH PARTITION ${name}
      FOR VALUES FROM ('${lowestIdAt(day * dayMs)}') TO ('${lowestIdAt((day + 1) * dayMs)}')`
}
