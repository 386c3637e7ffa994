import pg from 'pg'
import type { Database } from './database.ts'

const RealClient = pg.Client

/** A real connection to the server; one of the world's after the other is on it. */
export interface Session {
  readonly pid: number
  /** As the server said last: I in none, T in one, E in one that failed. */
  readonly transaction: 'I' | 'T' | 'E' | null
  query(config: pg.QueryConfig): Promise<pg.QueryResult>
}

/** All that a connection of the world leaves behind but its plans: those of the next would be the same. */
const afresh = 'CLOSE ALL; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES'

/**
 * Real connections, which are dear: each begins with empty caches and plans every statement anew. So one that was at
 * rest when the world's connection was cut is given to the next of the same settings; one that was not is really cut,
 * and the server undoes what it was at.
 */
export class ServerSessions {
  readonly #database: Database
  readonly #free = new Map<string, RealSession[]>()

  constructor(database: Database) {
    this.#database = database
  }

  /** The one that was given back last, as that is the same one in the same world. */
  async take(config: pg.ClientConfig): Promise<Session> {
    const { connectionString, application_name, options } = config
    const kind = JSON.stringify([connectionString, application_name, options])
    const free = this.#free.get(kind)?.pop()
    if (free !== undefined) return free
    const client = new RealClient({ connectionString, application_name, options })
    client.on('error', () => undefined) // statements tell of it
    await client.connect()
    return new RealSession(client, kind)
  }

  /** Resolves once the server has forgotten all that was done there and is not committed, and its locks. */
  async giveBack(session: Session): Promise<void> {
    const real = session as RealSession
    if (real.isAtRest) {
      await real.client.query(afresh)
      this.#free.set(real.kind, [...(this.#free.get(real.kind) ?? []), real])
    } else {
      await real.cut()
      await this.#database.gone(real.pid)
    }
  }
}

class RealSession implements Session {
  readonly client: pg.Client
  readonly kind: string
  readonly #names = new Map<string, string>()
  #open = 0

  constructor(client: pg.Client, kind: string) {
    this.client = client
    this.kind = kind
  }

  get pid(): number {
    return (this.client as unknown as { processID: number }).processID
  }

  get transaction(): 'I' | 'T' | 'E' | null {
    return this.client.getTransactionStatus()
  }

  get isAtRest(): boolean {
    return this.#open === 0 && this.transaction === 'I'
  }

  async query(config: pg.QueryConfig): Promise<pg.QueryResult> {
    this.#open += 1
    try {
      return await this.client.query(config.name ? { ...config, name: this.#nameOf(config.text) } : config)
    } finally {
      this.#open -= 1
    }
  }

  async cut(): Promise<void> {
    const { stream } = (this.client as unknown as { connection: { stream: NodeJS.EventEmitter & { destroy(): void } } })
      .connection
    const ended = new Promise((resolve) => this.client.once('end', resolve))
    stream.destroy()
    await ended
  }

  /** The same words may have other names on the connections that come here one after the other. */
  #nameOf(text: string): string {
    const name = this.#names.get(text) ?? `s${this.#names.size}`
    this.#names.set(text, name)
    return name
  }
}
