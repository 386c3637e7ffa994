import type pg from 'pg'
import type { Store } from './store.ts'

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
