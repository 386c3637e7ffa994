import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rm, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePorts } from '@automation/testing'
import { memoryFolder } from '@automation/testing/memory-folder'

const repository = join(import.meta.dirname, '../../..')

export const embeddedMain = 'apps/embedded/src/main.ts'
export const servicesMain = 'scripts/services.ts'
export const adminMain = 'apps/embedded/src/admin/main.ts'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export type Values = Record<string, string>

/** A program of the repository that runs; `output` grows while it does. */
export interface RunningProgram {
  child: ChildProcess
  output: { stdout: string; stderr: string }
  ended: Promise<Ended>
  /** Resolves once stdout holds this text; fails when the program ends before. */
  said(text: string): Promise<void>
}

/** The environment of a system of its own: free ports, a new data folder that goes with the test. */
export async function ownEnvironment(): Promise<{ values: Values; remove(): Promise<void> }> {
  const dataDir = await memoryFolder('embedded-test-')
  const names = [
    ...['catalog', 'execution', 'catalogHealth', 'executionHealth', 'runnerHealth', 'sandbox', 'sandboxHealth'],
    ...['storage', 'storageHealth', 'scheduler', 'schedulerHealth', 'gatewayHealth'],
  ]
  const [port, healthPort, ...ports] = await freePorts(2 + names.length)
  const values = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    // Else the first file of a program is compiled anew at each start, with a compiler that is loaded for it.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    // As the machine may give runs no network of their own.
    ISOLATION_MANY_TEAMS: 'true',
    SANDBOX_PUBLIC_PORT: '0',
    SANDBOX_GRPC_PORT: '0',
    CONSOLE_PORT: '0',
    PORT: String(port),
    HEALTH_PORT: String(healthPort),
    SERVICE_PORTS: names.map((name, index) => `${name}=${ports[index]}`).join(),
  }
  return { values, remove: () => rm(dataDir, { recursive: true, force: true }) }
}

export function startProgram(main: string, values: Values, args: string[] = []): RunningProgram {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: repository,
    env: values,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...output }))
  const said = async (text: string) => {
    while (!output.stdout.includes(text)) {
      const over = await Promise.race([once(child.stdout, 'data').then(() => false), ended.then(() => true)])
      if (over) throw new Error(`It ended without saying ${JSON.stringify(text)}:\n${output.stderr}`)
    }
  }
  return { child, output, ended, said }
}

export function runProgramToEnd(main: string, values: Values, args: string[] = []): Promise<Ended> {
  return startProgram(main, values, args).ended
}

export function admin(values: Values, ...args: string[]): Promise<Ended> {
  return runProgramToEnd(adminMain, values, args)
}

/** The same command line as it is in an image. */
export function adminInImage(values: Values, ...args: string[]): Promise<Ended> {
  return runProgramToEnd('apps/admin/src/main.ts', values, args)
}

/** A line as a user pastes it into a shell. */
export function pasted(line: string): Promise<Ended> {
  return new Promise((resolve) => {
    execFile('sh', ['-c', line], (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }))
  })
}

/** The names of the metrics at this address, those of any process in this language left out. */
export async function metricsAt(address: string): Promise<string[]> {
  const text = await (await fetch(`${address}/metrics`)).text()
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)
  return names.filter((name) => !/^(process|nodejs)_/.test(name))
}

/** The names of metrics that docs/reference/metrics.md has a line for. */
export async function metricsInDocs(): Promise<string[]> {
  const text = await readFile(join(import.meta.dirname, '../../../docs/reference/metrics.md'), 'utf8')
  const cells = text.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split('|')[1] ?? ''] : []))
  return cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name))
}
