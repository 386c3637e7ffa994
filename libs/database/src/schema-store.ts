import { unavailable } from '@automation/errors'
import type { Check, Logger, Registry } from '@automation/service'
import type pg from 'pg'
import { openDatabase, type Database, type SchemaOptions } from './database.ts'
import { databaseFailure } from './failure.ts'
import { TeamShare } from './team-share.ts'

interface SchemaStoreOptions extends SchemaOptions {
  url: string
  /** The most connections at a time; what comes beyond waits for one. */
  poolSize: number
  /** Applies what migrations are missing when it opens. */
  migrates: boolean
  logger: Logger
  /** Where to tell how busy its pool is, and under what name; `main`. */
  metrics?: Registry
  poolName?: string
}

/** The rows of a service, by statements of its own. All failures are Failures: `unavailable` while it is away or not open. */
export class SchemaStore {
  readonly #options: SchemaStoreOptions
  readonly #share: TeamShare
  #open: Database | undefined

  constructor(options: SchemaStoreOptions) {
    this.#options = options
    this.#share = new TeamShare(options.poolSize)
  }

  /** Connects, after the migrations where it makes them; waits for a database that is not there yet until `signal` is aborted. */
  async open(signal: AbortSignal): Promise<void> {
    const { migrates, migrationsDir, ...options } = this.#options
    this.#open = await openDatabase({ ...options, migrationsDir: migrates ? migrationsDir : undefined, signal })
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.close()
  }

  async check(): Promise<Check> {
    const check = (await this.#open?.check()) ?? { ok: false, detail: 'not open' }
    return { ...check, name: `${this.#options.schema} database` }
  }

  async query<R extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<R[]> {
    try {
      return (await this.pool().query<R>(statement)).rows
    } catch (error) {
      throw databaseFailure(error)
    }
  }

  /** The same for a caller of this team, by its share of the connections. */
  queryFor<R extends pg.QueryResultRow>(team: string, statement: pg.QueryConfig): Promise<R[]> {
    return this.#share.use(team, () => this.query<R>(statement))
  }

  /** Statements of one transaction, on one connection. */
  async transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    try {
      const client = await this.pool().connect()
      try {
        await client.query('BEGIN')
        const result = await work(client)
        await client.query('COMMIT')
        client.release()
        return result
      } catch (error) {
        // A connection in an unknown state is not used again.
        client.release(true)
        throw error
      }
    } catch (error) {
      throw databaseFailure(error)
    }
  }

  /** The same for a caller of this team: its transactions may wait for each other, and then leave connections for others. */
  transactionFor<T>(team: string, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#share.use(team, () => this.transaction(work))
  }

  protected pool(): pg.Pool {
    if (this.#open === undefined) throw unavailable('The service is starting or stopping, try again')
    return this.#open.pool
  }
}
