import { openSync, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const lookMs = 2
/** Before the world's clock takes the place of Node's. */
const realDelay = delay

/**
 * A real database whose clock is the world's: `now()` and `clock_timestamp()` mean functions of the schema `world`, which
 * comes before PostgreSQL's own in the search path, and read a file that is written before each statement.
 */
export class Database {
  readonly #control: pg.Client
  readonly #clockPath: string
  readonly #clockFile: number
  #last: Promise<unknown> = Promise.resolve()

  private constructor(control: pg.Client, clockPath: string) {
    this.#control = control
    this.#clockPath = clockPath
    this.#clockFile = openSync(clockPath, 'w', 0o644)
  }

  /** `clockPath`: a file that the server reads, too, and that is of this server's worlds alone. */
  static async open(url: string, clockPath: string): Promise<Database> {
    const control = new pg.Client({ connectionString: url })
    await control.connect()
    return new Database(control, clockPath)
  }

  /** Makes the schema of the clock. */
  async makeClock(): Promise<void> {
    const text = `SELECT to_timestamp(pg_read_file(${pg.escapeLiteral(this.#clockPath)})::float8)`
    await this.#control.query(`CREATE SCHEMA world;
      CREATE FUNCTION world.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$${text}$$;
      CREATE FUNCTION world.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$${text}$$`)
  }

  /** The same number of digits for all times of a world, so that each takes the place of the one before. */
  setTime(ms: number): void {
    writeSync(this.#clockFile, (ms / 1000).toFixed(6), 0)
  }

  /** Says so once the connection of this pid waits for a lock; never where it is answered first. */
  async blocked(pid: number, answer: Promise<unknown>): Promise<'blocked'> {
    let isAnswered = false
    void answer.then(() => (isAnswered = true))
    for (;;) {
      await realDelay(lookMs)
      if (isAnswered) return new Promise(() => undefined)
      const { rows } = await this.query<{ waits: boolean }>('SELECT cardinality(pg_blocking_pids($1)) > 0 AS waits', [
        pid,
      ])
      if (rows[0]?.waits === true && !isAnswered) return 'blocked'
    }
  }

  /** Ends a statement that takes too long. */
  async cancel(pid: number): Promise<void> {
    await this.query('SELECT pg_cancel_backend($1)', [pid])
  }

  /** Has the server forget a connection, and its locks with it. */
  async gone(pid: number): Promise<void> {
    await this.query('SELECT pg_terminate_backend($1)', [pid])
    for (;;) {
      const { rows } = await this.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid])
      if (rows.length === 0) return
      await realDelay(lookMs)
    }
  }

  /** One after the other. */
  query<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<pg.QueryResult<R>> {
    const answer = this.#last.then(() => this.#control.query<R>(text, values))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  close(): Promise<void> {
    return this.#control.end()
  }
}

/** The address of this database for a service whose tables are in `schema`. */
export function addressFor(url: string, schema: string): string {
  const address = new URL(url)
  address.searchParams.set('options', `-c search_path=${schema},world,public,pg_catalog`)
  return address.href
}
