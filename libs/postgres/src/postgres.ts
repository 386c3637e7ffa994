import { resolve } from 'node:path'
import type { Logger } from '@automation/service'
import { findBinaries } from './binaries.ts'
import { ensureCluster } from './cluster.ts'
import { freePort } from './free-port.ts'
import { addressOf, stopLeftOver } from './found.ts'
import { startServer, type Server } from './server.ts'

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
  const { logger, durable = true, maxConnections = 80 } = options
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
