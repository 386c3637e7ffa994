import type { ChildProcess } from 'node:child_process'
import type { Logger } from '@automation/service'
import type { Binaries } from './binaries.ts'
import { clusterFolder } from './found.ts'
import { followed, knownRemedy, launch, notStarted } from './launch.ts'

export interface Server {
  /** Resolves with the exit code or the signal when the process is gone. */
  ended: Promise<number | NodeJS.Signals | null>
  stop(): Promise<void>
}

interface ServerOptions {
  dataDir: string
  binaries: Binaries
  logger: Logger
  settings: ServerSettings
}

/** What passes by itself, and how long that may take, in ms: on a busy machine processes of a killed server end late. */
const passing: [RegExp, number][] = [
  [/pre-existing shared memory block/, 30_000],
  [/lock file .* already exists/, 5000],
]

/** One process of the server, up and taking connections. Waits for what an earlier, killed one left in shared memory. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const beganAt = performance.now()
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
    const { server, refusal } = await attempt(options)
    if (server !== undefined) return server
    const patienceMs = passing.find(([words]) => words.test(refusal))?.[1] ?? 0
    if (performance.now() - beganAt > patienceMs) throw notStarted(advice(refusal, options.settings.port))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

async function attempt({ dataDir, binaries, logger, settings }: ServerOptions) {
  const lines: string[] = []
  const ready = Promise.withResolvers<true>()
  const child = launch(dataDir, binaries.postgres, ['-D', clusterFolder(dataDir), ...serverArguments(settings)])
  const ended = followed(child, (line) => {
    if (line.includes('database system is ready to accept connections')) ready.resolve(true)
    if (lines.length < 50) lines.push(line)
    logger[levelOf(line)]({ part: 'postgres' }, line)
  })
  const killWithUs = () => child.kill('SIGINT')
  process.once('exit', killWithUs)
  const forget = () => process.removeListener('exit', killWithUs)
  ended.then(forget, forget)
  const up = await Promise.race([ready.promise, ended])
  if (up !== true) return { refusal: lines.join('\n') }
  return { server: { ended, stop: () => stopServer(child, ended) }, refusal: '' }
}

async function stopServer(child: ChildProcess, ended: Server['ended']): Promise<void> {
  child.kill('SIGINT')
  const harder = [setTimeout(() => child.kill('SIGQUIT'), 4000), setTimeout(() => child.kill('SIGKILL'), 6000)]
  try {
    await ended
  } finally {
    harder.forEach((timer) => clearTimeout(timer))
  }
}

function levelOf(line: string): 'debug' | 'warn' | 'error' {
  if (line.includes('due to administrator command')) return 'debug'
  if (/^(FATAL|PANIC):/.test(line)) return 'error'
  return line.startsWith('WARNING:') ? 'warn' : 'debug'
}

function advice(refusal: string, port: number): string {
  if (refusal.includes('could not bind')) return `port ${port} on 127.0.0.1 is taken. End what listens there`
  if (refusal.includes('database files are incompatible'))
    return 'its data was made by another version. Start with the version that made it, or with another DATA_DIR'
  return knownRemedy(refusal) ?? refusal.split('\n').slice(-5).join(' ')
}

interface ServerSettings {
  port: number
  /** Empty: no unix socket. */
  socketFolder: string
  maxConnections: number
  /** False only for data that may be lost, such as that of tests. */
  durable: boolean
}

/** The server's settings as arguments; small in memory when idle, nothing that only replication or big machines need. */
function serverArguments(settings: ServerSettings): string[] {
  const values = {
    listen_addresses: '127.0.0.1',
    port: settings.port,
    unix_socket_directories: settings.socketFolder,
    unix_socket_permissions: '0700',
    max_connections: settings.maxConnections,
    shared_buffers: '64MB',
    work_mem: '8MB',
    jit: 'off',
    io_method: 'sync',
    max_parallel_workers_per_gather: 0,
    max_logical_replication_workers: 0,
    wal_level: 'minimal',
    max_wal_senders: 0,
    max_wal_size: '512MB',
    fsync: settings.durable ? 'on' : 'off',
    full_page_writes: settings.durable ? 'on' : 'off',
    synchronous_commit: settings.durable ? 'on' : 'off',
    password_encryption: 'scram-sha-256',
    update_process_title: 'off',
    lc_messages: 'C',
    log_destination: 'stderr',
    log_line_prefix: '',
    // Callers get the errors of their statements; here they would show values.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
