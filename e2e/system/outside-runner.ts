import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryRoot, signal } from './system.ts'

/** A runner that no network leads to: its own has a loopback alone, and one way out, to one port of this machine. */
export interface OutsideRunner {
  output(): string
  /** Its process, or that which holds it. */
  pid: number
  /** The way out is cut, and stays so until `mend`. */
  cut(): void
  mend(): void
  /** With the exit code of the runner, once it has ended by itself or was stopped. */
  ended: Promise<number | null>
  stop(): Promise<void>
}

/** Whether this machine lets a program have a network of its own. */
export const hasOwnNetworks = spawnSync('unshare', ['-rn', 'true']).status === 0

/** What runs inside: it hands connections to its port on through the socket, and starts the runner. */
const inside = `
const { connect, createServer } = require('node:net')
const { spawn } = require('node:child_process')
const server = createServer((near) => {
  const far = connect(process.env.WAY_OUT)
  near.pipe(far).pipe(near)
  near.on('error', () => far.destroy())
  far.on('error', () => near.destroy())
  far.on('close', () => near.destroy())
})
server.listen(8443, '127.0.0.1', () => {
  const child = spawn(process.execPath, ['apps/runner/src/main.ts'], { stdio: 'inherit' })
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('exit', (code) => process.exit(code ?? 1))
})`

/** Starts a runner that reaches `port` of this machine and nothing else. */
export async function startOutsideRunner(port: number, settings: Record<string, string>): Promise<OutsideRunner> {
  const folder = await mkdtemp(join(tmpdir(), 'outside-runner-'))
  const path = join(folder, 'way-out')
  const sockets = new Set<Socket>()
  let isCut = false
  const way = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one
        .on('error', () => other.destroy())
        .on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
      one.pipe(other)
    }
    return undefined
  }).listen(path)
  await once(way, 'listening')
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', HOME: folder, WAY_OUT: path, INSIDE: inside },
    ...{ RUNNER_URL: 'http://127.0.0.1:8443', RUNNER_DEPENDENCIES_DIR: join(folder, 'packages'), ...settings },
  }
  const start = 'ip link set lo up && exec node -e "$INSIDE"'
  const child = spawn('unshare', ['-rn', 'sh', '-c', start], {
    cwd: repositoryRoot,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null)
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    output: () => said,
    pid: child.pid!,
    cut,
    mend: () => (isCut = false),
    ended,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) signal(child.pid!, 'SIGTERM')
      await ended
      cut()
      way.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
