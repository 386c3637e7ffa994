import { databaseFailure, type HeldLock, holdLock, type SchemaOptions, SchemaStore } from '@automation/database'
import type { PartContext } from '@automation/service'

interface StoreOptions {
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

  /** This advisory lock, which is held until it is released; undefined while another one holds it. */
  async lock(name: string): Promise<HeldLock | undefined> {
    try {
      return await holdLock(this.pool(), name)
    } catch (error) {
      throw databaseFailure(error)
    }
  }
}

/** One replica of the service leads: it holds an advisory lock for as long as the connection lives. */
export class Leadership {
  readonly #store: Store
  readonly #name: string
  #lock: HeldLock | undefined

  constructor(store: Store, name: string) {
    this.#store = store
    this.#name = name
  }

  /** Whether this replica leads now; it tries to where nobody does. Failure unavailable while the database is away. */
  async isMine(): Promise<boolean> {
    if (this.#lock !== undefined && (await this.#lock.isHeld())) return true
    await this.release()
    this.#lock = await this.#store.lock(this.#name)
    return this.#lock !== undefined
  }

  async release(): Promise<void> {
    this.#lock?.release()
    this.#lock = undefined
  }
}
