import { databaseFailure, type SchemaOptions, SchemaStore } from '@automation/database'
import type { PartContext } from '@automation/service'
import type pg from 'pg'

export interface StoreOptions {
  /** The most connections at a time. */
  poolSize: number
  /** Applies what migrations are missing when it opens. */
  migrates: boolean
  /** What metrics call its pool; `main`. */
  poolName?: string
}

/** Where the sandbox service keeps its rows. */
export const sandboxSchema: SchemaOptions = {
  schema: 'sandbox',
  migrationsDir: new URL('../../prisma/migrations/', import.meta.url),
}

/** The database of the sandbox service. */
export class Store extends SchemaStore {
  constructor(url: string, context: Pick<PartContext, 'logger' | 'metrics'>, options: StoreOptions) {
    const { logger, metrics } = context
    super({ ...sandboxSchema, ...options, url, logger, metrics })
  }

  /** A connection that holds this advisory lock; undefined while another one does. Closing it gives the lock back. */
  async lock(name: string): Promise<pg.PoolClient | undefined> {
    try {
      const client = await this.pool().connect()
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
}

/** One replica of the service leads: it holds an advisory lock on a connection of its own, for as long as that lives. */
export class Leadership {
  readonly #store: Store
  readonly #name: string
  #client: pg.PoolClient | undefined

  constructor(store: Store, name: string) {
    this.#store = store
    this.#name = name
  }

  /** Whether this replica leads now; it tries to where nobody does. Failure unavailable while the database is away. */
  async isMine(): Promise<boolean> {
    if (this.#client !== undefined && (await this.#stillHeld(this.#client))) return true
    this.#client = await this.#store.lock(this.#name)
    return this.#client !== undefined
  }

  async release(): Promise<void> {
    // Closed, so that the lock goes with it.
    this.#client?.release(true)
    this.#client = undefined
  }

  async #stillHeld(client: pg.PoolClient): Promise<boolean> {
    try {
      await client.query('SELECT 1')
      return true
    } catch {
      // The lock went with the connection: it is asked for again.
      await this.release()
      return false
    }
  }
}
