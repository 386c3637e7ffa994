import { openSync, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

/** Most statements have their answer by then. */
const lookMs = 4
const longestLookMs = 20
/** Before the world's clock takes the place of Node's. */
const realDelay = delay

/** A statement that is in the server. */
export interface Statement {
  session: { readonly pid: number }
  answer: Promise<unknown>
  /** Its answer, once it is there. */
  settled?: unknown
  /** It was seen to wait for a lock. */
  isNoted: boolean
}

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
      CREATE FUNCTION world.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$${text}$$;
      CREATE FUNCTION world.set_config(text, text, boolean) RETURNS text LANGUAGE sql VOLATILE AS 'SELECT $2'`)
  }

  /** The same number of digits for all times of a world, so that each takes the place of the one before. */
  setTime(ms: number): void {
    writeSync(this.#clockFile, (ms / 1000).toFixed(6), 0)
  }

  /**
   * Until each of these statements has its answer or waits for a lock: then nothing moves in the server. Those that were
   * seen to wait are asked for only where `locksAreFreed` or one of them has its answer: what began after them and was
   * at once at its end is not what they wait for.
   */
  async quiet(statements: readonly Statement[], locksAreFreed: () => boolean): Promise<void> {
    const waited = statements.filter(({ isNoted }) => isNoted)
    await answered(
      statements.filter(({ isNoted }) => !isNoted),
      lookMs,
    )
    for (let pauseMs = lookMs; ; pauseMs = Math.min(pauseMs * 2, longestLookMs)) {
      const open = statements.filter(({ settled }) => settled === undefined)
      const mayMove = locksAreFreed() || waited.some(({ settled }) => settled !== undefined)
      const asked = mayMove ? open : open.filter(({ isNoted }) => !isNoted)
      if (asked.length === 0) return
      const stuck = await this.#stuck(asked.map(({ session }) => session.pid))
      const moving = asked.filter(({ session }) => !stuck.has(session.pid))
      if (moving.length === 0) return
      await answered(moving, pauseMs)
    }
  }

  /** Which of these connections wait for a lock. */
  async #stuck(pids: number[]): Promise<Set<number>> {
    const text = 'SELECT pid FROM unnest($1::integer[]) AS pid WHERE cardinality(pg_blocking_pids(pid)) > 0'
    const { rows } = await this.query<{ pid: number }>({ name: 'stuck', text }, [pids])
    return new Set(rows.map(({ pid }) => pid))
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
  query<R extends pg.QueryResultRow>(
    text: string | pg.QueryConfig,
    values: unknown[] = [],
  ): Promise<pg.QueryResult<R>> {
    const answer = this.#last.then(() => this.#control.query<R>(text, values))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  close(): Promise<void> {
    return this.#control.end()
  }
}

/** Until all of these have their answers, at most so long. */
async function answered(statements: readonly Statement[], ms: number): Promise<void> {
  if (statements.length > 0) await Promise.race([Promise.all(statements.map(({ answer }) => answer)), realDelay(ms)])
}

/** The address of this database for a service whose tables are in `schema`. */
export function addressFor(url: string, schema: string): string {
  const address = new URL(url)
  address.searchParams.set('options', `-c search_path=${schema},world,public,pg_catalog`)
  return address.href
}
