import { join } from 'node:path'
import { followMove, nobody, PostgresServer, serverFolder } from '../../system/postgres-server.ts'
import { OwnDisk } from './own-disk.ts'

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
  /** By the folder of the server. */
  readonly #disks = new Map<string, OwnDisk>()
  #primary!: PostgresServer
  #standby: PostgresServer | undefined
  #made = 0

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Two servers with data in this folder, which is made. */
  static async start(folder: string): Promise<DatabasePair> {
    await serverFolder(folder)
    const pair = new DatabasePair(folder)
    pair.#primary = await PostgresServer.make(await pair.#nextFolder(), configuration)
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

  /** That of the primary; undefined where this program may give it none of its own. */
  get disk(): OwnDisk | undefined {
    return this.#disks.get(this.#primary.folder)
  }

  /** Makes a standby of the primary; from then on commits wait for it. */
  async addStandby(): Promise<void> {
    const data = await this.#nextFolder()
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
    await this.#unmount(this.#primary)
    await followMove('promote-standby', { TARGET_URL: standby.url })
    this.#primary = standby
    this.#standby = undefined
  }

  /** Waits for a primary that has crashed, or starts it where it has ended. */
  async revive(): Promise<void> {
    this.#primary = await this.#primary.again()
  }

  async stop(): Promise<void> {
    const servers = [this.#primary, ...(this.#standby ? [this.#standby] : [])]
    await Promise.all(servers.map((server) => server.stop('crash')))
    await Promise.all(servers.map((server) => this.#unmount(server)))
  }

  /** An empty folder, on a disk of its own where that can be had. */
  async #nextFolder(): Promise<string> {
    const folder = await serverFolder(join(this.#folder, `database-${this.#made}`))
    this.#made += 1
    // Who may mount is root, whose servers are somebody else's.
    if (nobody !== undefined) this.#disks.set(folder, await OwnDisk.mount(folder, nobody))
    return folder
  }

  async #unmount({ folder }: PostgresServer): Promise<void> {
    await this.#disks.get(folder)?.unmount()
    this.#disks.delete(folder)
  }
}
