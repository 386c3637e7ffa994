import { databaseFailure, openDatabase, type Database, type SchemaOptions } from '@automation/database'
import { unavailable } from '@automation/errors'
import type { Check, Logger } from '@automation/service'
import type pg from 'pg'

/** Where storage keeps its rows. */
export const storageSchema: SchemaOptions = {
  schema: 'storage',
  migrationsDir: new URL('../../prisma/migrations/', import.meta.url),
}

/** The database of the storage service. All failures are Failures: `unavailable` while it is away or not open. */
export class Store {
  readonly #url: string
  readonly #logger: Logger
  #open: Database | undefined

  constructor(url: string, logger: Logger) {
    this.#url = url
    this.#logger = logger
  }

  /** Migrates and connects; waits for a database that is not there yet until `signal` is aborted. */
  async open(signal: AbortSignal): Promise<void> {
    this.#open = await openDatabase({
      ...storageSchema,
      url: this.#url,
      poolSize: 8,
      logger: this.#logger,
      signal,
    })
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.close()
  }

  async check(): Promise<Check> {
    const check = (await this.#open?.check()) ?? { ok: false, detail: 'not open' }
    return { ...check, name: 'storage database' }
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

  #pool(): pg.Pool {
    if (this.#open === undefined) throw unavailable('The service is starting or stopping, try again')
    return this.#open.pool
  }
}
