import { join } from 'node:path'
import { followMove, PostgresServer, serverFolder } from '../../system/postgres-server.ts'

const configuration = [
  'wal_level = logical',
  'max_connections = 220',
  'shared_buffers = 128MB',
  // Processes die here, machines do not.
  'fsync = off',
]

/** A PostgreSQL primary whose commits are on a standby before they count, by the commands of the guide. */
export class DatabasePair {
  readonly #folder: string
  #primary: PostgresServer
  #standby: PostgresServer | undefined
  #made = 0

  private constructor(folder: string, primary: PostgresServer) {
    this.#folder = folder
    this.#primary = primary
  }

  /** Two servers with data in this folder, which is made. */
  static async start(folder: string): Promise<DatabasePair> {
    await serverFolder(folder)
    const primary = await PostgresServer.make(await serverFolder(join(folder, 'database-0')), configuration)
    const pair = new DatabasePair(folder, primary)
    try {
      await pair.addStandby()
      return pair
    } catch (error) {
      await pair.stop()
      throw error
    }
  }

  get primary(): PostgresServer {
    return this.#primary
  }

  /** Makes a standby of the primary; from then on commits wait for it. */
  async addStandby(): Promise<void> {
    this.#made += 1
    const data = join(this.#folder, `database-${this.#made}`)
    const env = { SOURCE_URL: this.#primary.url, STANDBY_DATA: data }
    await followMove('make-standby', env)
    this.#standby = await PostgresServer.start(data, true)
    await followMove('wait-for-standby', env)
  }

  /** The primary is gone at once, and its standby takes its place, alone. */
  async promote(): Promise<void> {
    const standby = this.#standby
    if (!standby) throw new Error('There is no standby to promote')
    await this.#primary.stop('crash')
    await followMove('promote-standby', { TARGET_URL: standby.url })
    this.#primary = standby
    this.#standby = undefined
  }

  async stop(): Promise<void> {
    await Promise.all([this.#primary.stop('crash'), this.#standby?.stop('crash')])
  }
}
