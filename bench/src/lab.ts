import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startPostgres } from '@automation/postgres'
import pg from 'pg'
import { pino } from 'pino'

/** How long and how often is measured. */
export interface Effort {
  repeats: number
  warmUpS: number
  seconds: number
  /** Work is cut to a few per cent of its size: for a try of the bench itself. */
  smoke: boolean
}

/** What the sides stand on: folders, ports and a PostgreSQL with the settings of the embedded one. */
export interface Lab {
  effort: Effort
  /** Folder of what peers are installed in, outside the repository; undefined when none were asked for. */
  peers: string | undefined
  folder(name: string): Promise<string>
  port(): Promise<number>
  /** Address of a fresh, empty database. */
  database(): Promise<string>
  /** Ends the work that a side left to PostgreSQL (vacuum, checkpoint): its databases go away. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** Makes the lab in a new temporary folder, which goes away with `close`. */
export async function openLab(effort: Effort, peers: string | undefined): Promise<Lab> {
  const root = await mkdtemp(join(tmpdir(), 'automation-bench-'))
  const logger = pino({ level: 'error' }, pino.destination(2))
  let postgres: ReturnType<typeof startPostgres> | undefined
  let databases = 0
  const inUse: string[] = []
  return {
    effort,
    peers,
    folder: (name) => mkdtemp(join(root, `${name}-`)),
    port: freePort,
    database: async () => {
      postgres ??= startPostgres({ dataDir: join(root, 'postgres'), logger, maxConnections: 100 })
      const { url } = await postgres
      const name = `bench_${++databases}`
      inUse.push(name)
      return await createDatabase(url, name)
    },
    rest: async () => {
      const names = inUse.splice(0)
      if (postgres === undefined || names.length === 0) return
      const drops = names.map((name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await onServer((await postgres).url, [...drops, 'CHECKPOINT'])
    },
    close: async () => {
      await (await postgres)?.stop()
      // What ends last may still write.
      await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await onServer(serverUrl, [`CREATE DATABASE ${name}`, 'CHECKPOINT'])
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

async function onServer(serverUrl: string, statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
