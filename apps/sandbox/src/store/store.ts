import { databaseFailure, SchemaStore, type SchemaOptions } from '@automation/database'
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
