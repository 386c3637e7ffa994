import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { repositoryRoot, signal } from '../../system/system.ts'
import { waitUntil } from '../../system/wait-until.ts'
import type { Surroundings } from './preloaded.ts'

export type ServiceName = 'process-catalog' | 'execution' | 'storage' | 'sandbox' | 'scheduler' | 'runner' | 'gateway'

export interface ReplicaOptions {
  service: ServiceName
  /** `execution-2`. */
  name: string
  /** Its log and what surrounds it are written there. */
  folder: string
  healthPort: number
  env: Record<string, string>
}

/** Its program ends when this one has gone, however that went. */
const lifeline = join(repositoryRoot, 'apps/embedded/src/end-with-parent.ts')
const preloaded = join(import.meta.dirname, 'preloaded.ts')
const readyWithinMs = 120_000
const stopWithinMs = 45_000

/** One replica of a service, as a process that is struck and started again with the same settings. */
export class Replica {
  readonly service: ServiceName
  readonly name: string
  readonly #options: ReplicaOptions
  #child: ChildProcess | undefined
  #isFrozen = false

  constructor(options: ReplicaOptions) {
    this.#options = options
    this.service = options.service
    this.name = options.name
    this.surround()
  }

  /** Undefined while it does not run. */
  get pid(): number | undefined {
    const child = this.#child
    return child?.exitCode === null && child.signalCode === null ? child.pid : undefined
  }

  /** Starts it; `ready` tells when it serves. */
  start(): void {
    const { service, env, folder, name, healthPort } = this.#options
    const log = openSync(join(folder, `${name}.log`), 'a')
    const child = spawn(process.execPath, ['--import', lifeline, `apps/${service}/src/main.ts`], {
      cwd: repositoryRoot,
      env: {
        ...env,
        HEALTH_PORT: `${healthPort}`,
        NODE_OPTIONS: `--import ${preloaded}`,
        AUTOMATION_E2E_SURROUNDINGS: this.#surroundings,
      },
      stdio: ['ignore', log, log, 'pipe'],
    })
    closeSync(log)
    this.#child = child
  }

  /** Resolves when it is ready. */
  async ready(): Promise<void> {
    const isReady = async () => {
      if (this.pid === undefined) throw new Error(`${this.name} ended by itself; ${this.#options.folder} has its log`)
      return this.isReady()
    }
    await waitUntil(`${this.name} to be ready`, isReady, { timeoutMs: readyWithinMs, everyMs: 100 })
  }

  async isReady(): Promise<boolean> {
    const url = `http://127.0.0.1:${this.#options.healthPort}/readyz`
    const answer = await fetch(url, { signal: AbortSignal.timeout(3000) }).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => undefined)
    return answer?.status === 200
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL', stopWithinMs)
  }

  /** As an operator stops it. Throws where it does not end in time, or not with 0. */
  async stop(): Promise<void> {
    const code = await this.#end('SIGTERM', stopWithinMs)
    if (code !== 0) throw new Error(`${this.name} was told to stop and ended with ${code}`)
  }

  freeze(): void {
    this.#isFrozen = true
    if (this.pid !== undefined) signal(this.pid, 'SIGSTOP')
  }

  thaw(): void {
    if (this.#isFrozen && this.pid !== undefined) signal(this.pid, 'SIGCONT')
    this.#isFrozen = false
  }

  /** What it takes for the time and for name servers from now on; within a fifth of a second. */
  surround(given: Partial<Surroundings> = {}): void {
    const surroundings: Surroundings = { clockAheadMs: 0, namesAway: false, ...given }
    writeFileSync(`${this.#surroundings}.new`, JSON.stringify(surroundings))
    renameSync(`${this.#surroundings}.new`, this.#surroundings)
  }

  get #surroundings(): string {
    return join(this.#options.folder, `${this.name}.json`)
  }

  async #end(how: 'SIGKILL' | 'SIGTERM', withinMs: number): Promise<number | null> {
    const child = this.#child
    if (!child || this.pid === undefined) return 0
    const gone = once(child, 'exit')
    child.kill(how)
    if (how === 'SIGTERM') {
      const late = delay(withinMs, true, { ref: false })
      if ((await Promise.race([gone, late])) === true) {
        child.kill('SIGKILL')
        await gone
        throw new Error(`${this.name} did not stop within ${withinMs} ms`)
      }
    }
    await gone
    return child.exitCode
  }
}
