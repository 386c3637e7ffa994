import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { chmod, readFile, rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '@automation/testing/free-ports'
import { memoryFolder } from '@automation/testing/memory-folder'
import { isAlive, processesMarked, treeOf, type ProcessRow } from './process-table.ts'
import { waitUntil } from './wait-until.ts'

export const repositoryRoot = resolve(import.meta.dirname, '../..')

/** Where the programs of the system keep what Node compiles of them. */
const compileCache = join(repositoryRoot, 'node_modules/.cache/compile')

export type Shape = 'embedded' | 'services'

export interface SystemOptions {
  shape?: Shape
  team?: string
  /** Settings beside those that the driver needs itself. */
  env?: Record<string, string>
  /** Where the system keeps everything; when absent a new folder, which `stop` removes with all traces. */
  dataDir?: string
  readyWithinMs?: number
}

/** A system that this driver started, as its user sees it. */
export interface System {
  shape: Shape
  /** Address of the gateway, without a slash at the end. */
  host: string
  team: string
  apiToken: string
  dataDir: string
  /** The environment that it was started with; the admin command line takes the same. */
  env: Record<string, string>
  process: ChildProcess
  /** What it wrote to stdout and stderr. */
  output(): Promise<string>
  /** Every process of it that lives now. */
  processes(): ProcessRow[]
  /** SIGTERM, then asserts that it ends within `withinMs` and leaves no process. */
  stop(withinMs?: number): Promise<void>
  /** Kills every process of it at once, without a word. */
  kill(): Promise<void>
}

/** The shape that E2E_SHAPE asks for: `embedded` (the default) or `services`. */
export function shapeFromEnvironment(): Shape {
  return process.env['E2E_SHAPE'] === 'services' ? 'services' : 'embedded'
}

/** Starts a system of its own on free ports and waits until it is ready. Throws with its output when it is not. */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const { shape = shapeFromEnvironment(), team = 'e2e', readyWithinMs = 120_000 } = options
  const dataDir = options.dataDir ?? (await systemFolder('automation-e2e-'))
  const name = options.env?.['AUTOMATION_E2E'] ?? randomUUID()
  const env: Record<string, string> = { ...(await systemSettings(dataDir, team)), ...options.env, AUTOMATION_E2E: name }
  const child = spawnSystem(shape, dataDir, env)
  const host = `http://127.0.0.1:${env['PORT']}`
  const output = () => readFile(logPath(dataDir), 'utf8')
  const processes = () => (child.pid === undefined ? [] : unique([...treeOf(child.pid), ...processesMarked(name)]))
  // Twice: what was about to be started while the first round went on is there at the second.
  const killAll = () => {
    for (let round = 0; round < 2; round += 1) for (const { pid } of processes()) signal(pid, 'SIGKILL')
  }
  process.once('exit', killAll)
  child.once('exit', () => process.off('exit', killAll))
  const stop = async (withinMs = 40_000) => {
    await endTree(child, processes(), processes, withinMs, output)
    if (options.dataDir === undefined && !process.env['E2E_KEEP']) await removeTraces(dataDir)
  }
  const kill = async () => {
    killAll()
    await exited(child)
  }
  try {
    await waitForReady(host, child, readyWithinMs)
    const apiToken = env['BOOTSTRAP_API_TOKEN'] ?? (await readFile(join(dataDir, 'bootstrap-token'), 'utf8')).trim()
    return { shape, host, team, apiToken, dataDir, env, process: child, output, processes, stop, kill }
  } catch (error) {
    const words = await output()
    await kill()
    throw new Error(`The system did not start; its last words:\n${words.slice(-4000)}`, { cause: error })
  }
}

/** Lets a program end on a signal as it ends otherwise: the systems that it started end with it. */
export function endOnSignals(): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1))
}

/** Removes the folder of a system, and what it wrote. E2E_KEEP keeps both where the driver would remove them. */
export async function removeTraces(dataDir: string): Promise<void> {
  await rm(dataDir, { recursive: true, force: true })
  await rm(logPath(dataDir), { force: true })
}

/** Runs the admin command line and kills it once it has written this to stderr. Throws where it ends without. */
export async function killedAdmin(args: string[], env: Record<string, string>, at: string): Promise<void> {
  const options = { cwd: repositoryRoot, env: { NODE_COMPILE_CACHE: compileCache, ...env } }
  const program = ['apps/embedded/src/admin/main.ts', ...args]
  const child = spawn(process.execPath, program, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (said.includes(at)) child.kill('SIGKILL')
  })
  await once(child, 'close')
  if (!said.includes(at)) throw new Error(`It ended without having said "${at}": ${said}`)
}

/** Runs the admin command line to its end, with the system's own settings. */
export async function runAdmin(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const options = { cwd: repositoryRoot, env: { NODE_COMPILE_CACHE: compileCache, ...env } }
  const child = spawn(process.execPath, ['apps/embedded/src/admin/main.ts', ...args], { ...options, stdio: 'pipe' })
  const collected = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (collected.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (collected.stderr += text))
  await once(child, 'close')
  return { code: child.exitCode, ...collected }
}

/** The command that starts a shape, from the repository's root. */
export function commandOf(shape: Shape): string[] {
  return [shape === 'embedded' ? 'apps/embedded/src/main.ts' : 'scripts/services.ts']
}

function spawnSystem(shape: Shape, dataDir: string, env: Record<string, string>): ChildProcess {
  const log = openSync(logPath(dataDir), 'a')
  const child = spawn(process.execPath, commandOf(shape), { cwd: repositoryRoot, env, stdio: ['ignore', log, log] })
  closeSync(log)
  return child
}

/** Makes a folder for all that a system keeps. */
export async function systemFolder(prefix: string): Promise<string> {
  const folder = await memoryFolder(prefix)
  await chmod(folder, 0o755) // the embedded PostgreSQL may run as a user of its own
  return folder
}

/** What a system on this machine needs to be told: free ports, its folder, its first team. */
export async function systemSettings(dataDir: string, team: string): Promise<Record<string, string>> {
  const [gateway, sandboxPublic, sandboxGrpc, consolePort, health, ...ports] = await freePorts(17)
  const names = ['catalog', 'execution', 'storage', 'sandbox', 'scheduler']
  const healthNames = [...names, 'gateway', 'runner'].map((name) => `${name}Health`)
  return {
    PATH: `${join(repositoryRoot, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
    HOME: process.env['HOME'] ?? '/',
    NODE_COMPILE_CACHE: compileCache,
    PORT: `${gateway}`,
    PUBLIC_URL: `http://127.0.0.1:${gateway}`,
    SANDBOX_PUBLIC_PORT: `${sandboxPublic}`,
    SANDBOX_GRPC_PORT: `${sandboxGrpc}`,
    CONSOLE_PORT: `${consolePort}`,
    CONSOLE_URL: `http://127.0.0.1:${consolePort}`,
    HEALTH_PORT: `${health}`,
    SERVICE_PORTS: [...names, ...healthNames].map((name, index) => `${name}=${ports[index]}`).join(),
    ...objectStore(),
    ...eventBus(dataDir),
    DATA_DIR: dataDir,
    BOOTSTRAP_TEAM: team,
    EGRESS_ALLOW: '127.0.0.0/8',
    // Several teams of a suite run here also where the machine gives runs no network of their own.
    ISOLATION_MANY_TEAMS: 'true',
    LOG_LEVEL: process.env['E2E_LOG_LEVEL'] ?? 'info',
  }
}

/** The S3 server that the environment names, if any. */
function objectStore(): Record<string, string> {
  const given = Object.entries(process.env).filter((entry): entry is [string, string] => entry[0].startsWith('S3_'))
  return process.env['S3_ENDPOINT'] ? Object.fromEntries(given) : {}
}

/** The brokers that the environment names, if any, with a topic of the system's own. */
function eventBus(dataDir: string): Record<string, string> {
  const brokers = process.env['KAFKA_BROKERS']
  return brokers ? { KAFKA_BROKERS: brokers, KAFKA_TOPIC: basename(dataDir) } : {}
}

async function waitForReady(host: string, child: ChildProcess, timeoutMs: number): Promise<void> {
  const ready = async () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`It ended with ${child.exitCode}`)
    return fetch(`${host}/readyz`).then(
      async (response) => {
        await response.arrayBuffer()
        return response.status === 200
      },
      () => false, // nobody listens yet
    )
  }
  await waitUntil(`${host}/readyz`, ready, { timeoutMs, everyMs: 50 })
}

async function endTree(
  child: ChildProcess,
  known: ProcessRow[],
  processes: () => ProcessRow[],
  withinMs: number,
  output: () => Promise<string>,
): Promise<void> {
  child.kill('SIGTERM')
  const inTime = await Promise.race([exited(child).then(() => true), delay(withinMs, false, { ref: false })])
  const gone = () => unique([...known, ...processes()]).filter(isAlive).length === 0
  const left =
    inTime &&
    (await waitUntil('its processes to end', gone, { timeoutMs: 15_000 }).then(
      () => true,
      () => false,
    ))
  if (left) return
  const remaining = unique([...known, ...processes()]).filter(isAlive)
  for (const { pid } of remaining) signal(pid, 'SIGKILL')
  const list = remaining.map(({ pid, command }) => `  ${pid} ${command.slice(0, 160)}`).join('\n')
  const why = inTime ? 'left processes' : `did not stop within ${withinMs} ms`
  throw new Error(`The system ${why}:\n${list}\n${(await output()).slice(-3000)}`)
}

function unique(rows: ProcessRow[]): ProcessRow[] {
  return [...new Map(rows.map((row) => [`${row.pid}/${row.startedAt}`, row])).values()]
}

/** Sends a signal to a process that may have ended already. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

const logPath = (dataDir: string) => `${dataDir}.log`
