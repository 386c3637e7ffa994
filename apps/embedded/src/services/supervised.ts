import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Logger } from '@automation/service'
import { compileCache } from '../compile-cache.ts'
import type { ServicePlan } from './plan.ts'

/** A service that runs as a process of its own and is started again when it dies. */
export interface Supervised {
  name: string
  /** Of the process that runs now; undefined between two. */
  pid(): number | undefined
  starts(): number
  /** SIGTERM, and SIGKILL when it has not ended `withinMs` later; resolves when it is gone for good. */
  stop(withinMs: number): Promise<void>
  /** SIGKILL, at once. */
  kill(): void
}

interface Hooks {
  logger: Logger
  /** Another process runs it, or none does. */
  changed(): void
}

/** That a timer takes. */
const longestMs = 2 ** 31 - 1
const calmMs = 30_000
const pauseMinMs = 200
const pauseMaxMs = 5000

const lifeline = new URL('../end-with-parent.ts', import.meta.url).href

/** Starts a service and keeps it running until it is told to stop. */
export function supervise(plan: ServicePlan, { logger, changed }: Hooks): Supervised {
  let child: ChildProcess | undefined
  let running = false
  let stopping = false
  let starts = 0
  let pauseMs = pauseMinMs
  let again: NodeJS.Timeout | undefined
  const gone = Promise.withResolvers<void>()
  begin()
  return {
    name: plan.name,
    pid: () => (running ? child?.pid : undefined),
    starts: () => starts,
    stop,
    kill: () => {
      stopping = true
      child?.kill('SIGKILL')
    },
  }

  function begin(): void {
    const startedMs = Date.now()
    starts += 1
    // Each process ends at the next of the fail points: that behind the last shows how the service recovers.
    const failPoint = plan.env['FAIL_POINT']?.split(',')[starts - 1]
    try {
      child = spawn(process.execPath, ['--import', lifeline, mainOf(plan.name)], {
        env: { NODE_COMPILE_CACHE: compileCache, ...plan.env, FAIL_POINT: failPoint },
        // A process group of its own: a Ctrl-C in the terminal is for the supervisor, which stops the services in order.
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      })
    } catch (error) {
      child = undefined
      return failed(error)
    }
    const { pid, stdout, stderr } = child
    running = pid !== undefined
    for (const stream of [stdout, stderr]) {
      // There is none without room for files.
      if (!stream) continue
      createInterface({ input: stream }).on('line', (line) =>
        process.stderr.write(`${plan.name.padEnd(15)} | ${line}\n`),
      )
    }
    // Without a process nothing tells of its end.
    child.on('error', (error) => (pid === undefined ? failed(error) : warn(error)))
    child.once('exit', (code, signal) => ended(code ?? signal, Date.now() - startedMs))
    changed()
  }

  function failed(error: unknown): void {
    warn(error)
    ended(null, 0)
  }

  function warn(error: unknown): void {
    logger.error({ err: error, service: plan.name }, 'a service could not be started')
  }

  function ended(how: number | string | null, livedMs: number): void {
    running = false
    changed()
    if (stopping) return gone.resolve()
    pauseMs = livedMs > calmMs ? pauseMinMs : Math.min(pauseMs * 2, pauseMaxMs)
    logger.error({ service: plan.name, how, againInMs: pauseMs }, 'a service ended by itself, starting it again')
    again = setTimeout(begin, pauseMs)
  }

  async function stop(withinMs: number): Promise<void> {
    stopping = true
    clearTimeout(again)
    if (!running) return
    child?.kill('SIGTERM')
    const hard = setTimeout(() => child?.kill('SIGKILL'), Math.min(withinMs, longestMs))
    await gone.promise
    clearTimeout(hard)
  }
}

function mainOf(name: string): string {
  return fileURLToPath(new URL('main.ts', import.meta.resolve(`@automation/${name}`)))
}
