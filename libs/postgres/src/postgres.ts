import { resolve } from 'node:path'
import { randomBytes } from 'node:crypto'
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import type { Logger } from '@automation/service'
import { type Binaries, findBinaries } from './binaries.ts'
import { freePort } from './free-port.ts'
import { addressOf, clusterFolder, passwordFile, stopLeftOver, textOf } from './found.ts'
import { type Server, startServer } from './server.ts'
import { followed, knownRemedy, launch, notStarted } from './launch.ts'

export interface PostgresOptions {
  /** Folder that belongs to this server alone; the caller makes sure that no other process starts one on it. */
  dataDir: string
  /** Port on 127.0.0.1; a free one when absent. */
  port?: number
  logger: Logger
  maxConnections?: number
  /** False turns fsync off, for data that may be lost. */
  durable?: boolean
}

export interface RunningPostgres {
  /** Address of the database `postgres`, through the unix socket where its path is short enough for one. */
  url: string
  /** The same over TCP on 127.0.0.1, for programs that know no sockets. */
  tcpUrl: string
  /** Ends it: what is committed is on disk, open connections are cut. May be called twice. */
  stop(): Promise<void>
}

/**
 * Starts the PostgreSQL that npm brought, on data that it makes at the first start (0.6 s; later starts 0.15 s). It takes
 * nobody in without the random password, not even on the socket. When it dies it is started again on the same port;
 * when this process dies it shuts itself down. Failure `postgres_not_started` says what to do.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const { logger, durable = true, maxConnections = 200 } = options
  const dataDir = resolve(options.dataDir)
  const binaries = await findBinaries()
  await stopLeftOver(dataDir, logger)
  const password = await ensureCluster(dataDir, binaries, durable)
  const port = options.port ?? (await freePort())
  const socketFolder = fitsSocket(dataDir) ? dataDir : ''
  const start = () =>
    startServer({ dataDir, binaries, logger, settings: { port, socketFolder, maxConnections, durable } })

  let server = await start()
  let stopping: Promise<void> | undefined
  const supervise = (running: Server) => {
    running.ended
      .then(async (code) => {
        if (stopping !== undefined) return
        logger.error({ code }, 'PostgreSQL ended by itself, starting it again')
        server = await restarted(start, () => stopping !== undefined, logger)
        supervise(server)
        if (stopping !== undefined) await server.stop()
      })
      .catch((error: unknown) => {
        if (stopping === undefined) logger.fatal({ err: error }, 'PostgreSQL can not be started again')
      })
  }
  supervise(server)
  const stop = () => (stopping ??= Promise.resolve().then(() => server.stop()))
  return { url: addressOf(password, port, socketFolder), tcpUrl: addressOf(password, port, ''), stop }
}

async function restarted(start: () => Promise<Server>, over: () => boolean, logger: Logger): Promise<Server> {
  for (let pauseMs = 200; ; pauseMs = Math.min(pauseMs * 2, 5000)) {
    try {
      return await start()
    } catch (error) {
      if (over()) throw error
      logger.error({ err: error }, 'PostgreSQL does not start, trying again')
      await new Promise((resolvePause) => setTimeout(resolvePause, pauseMs).unref())
    }
  }
}

function fitsSocket(folder: string): boolean {
  return Buffer.byteLength(`${folder}/.s.PGSQL.65535`) <= 103
}

/**
 * Makes the database files, once: built aside and renamed, so that a start that was cut off leaves nothing half.
 * Returns the password of the one user, `postgres`.
 */
async function ensureCluster(dataDir: string, binaries: Binaries, durable: boolean): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const password = await textOf(passwordFile(dataDir))
  const made = await exists(clusterFolder(dataDir))
  if (made && password !== undefined) return password
  if (made)
    throw notStarted(`${passwordFile(dataDir)} is missing beside its data. Put it back, or start with another DATA_DIR`)
  const fresh = randomBytes(24).toString('hex')
  await writeFile(passwordFile(dataDir), fresh, { mode: 0o600 })
  const aside = `${clusterFolder(dataDir)}.new`
  await rm(aside, { recursive: true, force: true })
  await initialise(dataDir, aside, binaries, durable)
  await rename(aside, clusterFolder(dataDir))
  return fresh
}

async function initialise(dataDir: string, folder: string, binaries: Binaries, durable: boolean): Promise<void> {
  const lines: string[] = []
  const child = launch(dataDir, binaries.initdb, [
    ...['--pgdata', folder, '--username', 'postgres', '--pwfile', passwordFile(dataDir), '--auth', 'scram-sha-256'],
    // More make a password slow to guess; this one is 192 random bits, and each connection pays for them.
    ...['--set', 'scram_iterations=1'],
    ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    ...['--no-instructions', ...(durable ? [] : ['--no-sync'])],
  ])
  const code = await followed(child, (line) => lines.push(line))
  if (code !== 0)
    throw notStarted(knownRemedy(lines.join('\n')) ?? `initdb ended with ${code}: ${lines.slice(-5).join(' ')}`)
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
