import { databaseFailure, openDatabase, type Database, type SchemaOptions } from '@automation/database'
import { unavailable } from '@automation/errors'
import type { Check, Logger } from '@automation/service'
import type pg from 'pg'

export interface StoreOptions {
  /** The most at a time; what comes beyond waits for one. */
  connections: number
  /** Applies what migrations are missing when it opens. */
  migrates: boolean
}

/** Where the sandbox service keeps its rows. */
export const sandboxSchema: SchemaOptions = {
  schema: 'sandbox',
  migrationsDir: new URL('../../prisma/migrations/', import.meta.url),
}

/** The database of the sandbox service. All failures are Failures: `unavailable` while it is away or not open. */
export class Store {
  readonly #url: string
  readonly #logger: Logger
  readonly #options: StoreOptions
  #open: Database | undefined

  constructor(url: string, logger: Logger, options: StoreOptions) {
    this.#url = url
    this.#logger = logger
    this.#options = options
  }

  /** Connects, after the migrations where it makes them; waits for a database that is not there yet until `signal` is aborted. */
  async open(signal: AbortSignal): Promise<void> {
    const { connections: poolSize, migrates } = this.#options
    const schema = migrates ? sandboxSchema : { ...sandboxSchema, migrationsDir: undefined }
    this.#open = await openDatabase({ ...schema, url: this.#url, poolSize, logger: this.#logger, signal })
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.close()
  }

  async check(): Promise<Check> {
    const check = (await this.#open?.check()) ?? { ok: false, detail: 'not open' }
    return { ...check, name: 'sandbox database' }
  }

  async query<R extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<R[]> {
    try {
      return (await this.#pool().query<R>(statement)).rows
    } catch (error) {
      throw databaseFailure(error)
    }
  }

  /** Statements of one transaction, on one connection. */
  async transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    try {
      const client = await this.#pool().connect()
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

  /** A connection that holds this advisory lock; undefined while another one does. Closing it gives the lock back. */
  async lock(name: string): Promise<pg.PoolClient | undefined> {
    try {
      const client = await this.#pool().connect()
      // A lost connection fails the next statement, which is what is handled.
      client.on('error', () => undefined)
      let mine = false
      try {
        const text = 'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine'
        mine = (await client.query<{ mine: boolean }>(text, [name])).rows[0]!.mine
      } finally {
        if (!mine) client.release(true)
      }
      return mine ? client : undefined
    } catch (error) {
      throw databaseFailure(error)
    }
  }

  #pool(): pg.Pool {
    if (this.#open === undefined) throw unavailable('The service is starting or stopping, try again')
    return this.#open.pool
  }
}
