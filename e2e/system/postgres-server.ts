import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { appendFile, chown, mkdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { freePorts } from '@automation/testing/free-ports'
import { commandsOf } from '@automation/testing/guide'
import { Client } from 'pg'
import { waitUntil } from './wait-until.ts'

/** The folder of PostgreSQL's programs on this machine, the newest; undefined where they are not installed. */
export const postgresPrograms = globSync('/usr/lib/postgresql/*/bin/pg_basebackup')
  .map((path) => join(path, '..'))
  .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  .at(-1)

// PostgreSQL refuses root.
export const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** Runs a program, or commands of a shell, as the user of the servers. Throws with what it wrote where it fails. */
export async function asServer(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const path = [postgresPrograms, process.env['PATH']].join(delimiter)
  const options = { ...nobody, env: { ...process.env, LC_ALL: 'C', ...env, PATH: path } }
  const { stdout } = await promisify(execFile)(program, args, options)
  return stdout
}

/** Runs the commands that the guide to moving the database has under this name. */
export async function followMove(name: string, env: Record<string, string>): Promise<void> {
  const commands = await commandsOf('moving-the-database', name)
  await asServer('bash', ['-euo', 'pipefail', '-c', commands], env)
}

/** A folder that the servers may write to. */
export async function serverFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true })
  if (nobody !== undefined) await chown(path, nobody.uid, nobody.gid)
  return path
}

/** A PostgreSQL on this machine's loopback, of the programs that are installed. */
export class PostgresServer {
  readonly url: string
  readonly folder: string
  readonly #child: ChildProcess

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.url = url
    this.folder = folder
    this.#child = child
  }

  /** An empty one with these lines in its configuration. */
  static async make(folder: string, lines: string[]): Promise<PostgresServer> {
    await asServer('initdb', [
      '--pgdata',
      folder,
      '--username',
      'postgres',
      '--auth',
      'trust',
      '--no-sync',
      '-E',
      'UTF8',
    ])
    await appendFile(join(folder, 'postgresql.conf'), lines.map((line) => `${line}\n`).join(''))
    return PostgresServer.start(folder)
  }

  /** On data that are there; resolves once it is out of recovery, or answers as a standby. */
  static async start(folder: string, isStandby = false, samePort?: number): Promise<PostgresServer> {
    const port = samePort ?? (await freePorts(1))[0]
    const args = [
      '-D',
      folder,
      '-c',
      `port=${port}`,
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
    ]
    const child = spawn(join(postgresPrograms!, 'postgres'), args, { ...nobody, stdio: 'ignore' })
    const server = new PostgresServer(`postgresql://postgres@127.0.0.1:${port}/postgres`, folder, child)
    const end = () => child.kill('SIGQUIT')
    process.once('exit', end)
    child.once('exit', () => process.off('exit', end))
    const ready = async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL on ${folder} ended with ${child.exitCode}`)
      const rows = await server.query<{ recovers: boolean }>('SELECT pg_is_in_recovery() AS recovers').catch(() => [])
      return rows[0] !== undefined && (isStandby || !rows[0].recovers)
    }
    await waitUntil(`PostgreSQL on ${folder}`, ready, { timeoutMs: 60_000, everyMs: 50 })
    return server
  }

  /** This one once it answers again, or another one on its data and its port where it has ended by itself. */
  async again(): Promise<PostgresServer> {
    const answers = () =>
      this.query('SELECT 1').then(
        () => true,
        () => this.#child.exitCode !== null,
      )
    await waitUntil(`PostgreSQL on ${this.folder}, or its end`, answers, { timeoutMs: 60_000, everyMs: 50 })
    return this.#child.exitCode === null
      ? this
      : PostgresServer.start(this.folder, false, Number(new URL(this.url).port))
  }

  async query<R extends object>(sql: string): Promise<R[]> {
    return this.with(async (client) => (await client.query<R>(sql)).rows)
  }

  async with<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: this.url })
    client.on('error', () => undefined) // the statement that fails by it says so
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }

  /** `crash` leaves it no time for anything. */
  async stop(how: 'fast' | 'crash' = 'fast'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await gone
  }
}
