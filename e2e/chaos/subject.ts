import { setTimeout as delay } from 'node:timers/promises'
import type { ProcessId } from '../system/process-table.ts'
import { isAlive, processOf, treeOf } from '../system/process-table.ts'
import { signal, startSystem } from '../system/system.ts'
import type { Shape, System } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import type { Strike } from './strikes.ts'

export const leaseMs = 2000

/** Few slots and a short lease, so that runs also wait in the queue and lost ones are found soon. */
const settings = { RUNNER_LEASE_MS: `${leaseMs}`, RUNNER_SLOTS: '6', TEAM_MAX_RUNNING: '8', SYNC_WAIT_MAX_MS: '6000' }

/** The system that is killed and started again, always on the same data and the same ports. */
export class Subject {
  readonly shape: Shape
  #system: System | undefined

  constructor(shape: Shape) {
    this.shape = shape
  }

  get system(): System {
    if (!this.#system) throw new Error('The system was never started')
    return this.#system
  }

  /** Starts it, armed with a fail point where one is given (`name:pass`). */
  async start(failPoint?: string): Promise<void> {
    const { env, dataDir } = this.#system ?? {}
    const { FAIL_POINT: _, ...same } = env ?? {}
    this.#system = await startSystem({
      shape: this.shape,
      team: 'chaos',
      dataDir,
      // Process code tells the ledger on this machine, which no network of its own leads to.
      env: { ...same, ...settings, ISOLATION_NETWORK: 'host', ...(failPoint ? { FAIL_POINT: failPoint } : {}) },
      readyWithinMs: 30_000,
    })
  }

  /** Kills as the strike says; for a fail point waits until it is reached, or kills everything when it is not. */
  async hit(strike: Strike, afterMs: number): Promise<{ reached: boolean }> {
    if (strike.kind === 'fail point') {
      const victim = await this.#victim(strike.command)
      const fired = waitUntil(strike.point, () => !isAlive(victim), { timeoutMs: 6000, everyMs: 10 })
      const reached = await fired.then(() => true).catch(() => false)
      if (!reached) await this.system.kill()
      return { reached }
    }
    await delay(afterMs)
    if (strike.kind === 'all') await this.system.kill()
    else await this.#killOne(strike.command)
    return { reached: true }
  }

  /** Until it is whole again: what has no supervisor is started anew. Gives the milliseconds that this took. */
  async recover(): Promise<number> {
    const started = performance.now()
    if (processOf(this.system.process.pid ?? 0) === undefined) await this.start()
    else await this.#awaitReady()
    return performance.now() - started
  }

  async #killOne(command: RegExp): Promise<void> {
    const victim = await this.#victim(command)
    signal(victim.pid, 'SIGKILL')
    await waitUntil(`${victim.pid} to die`, () => !isAlive(victim), { timeoutMs: 5000, everyMs: 5 })
  }

  async #awaitReady(): Promise<void> {
    let calm = 0
    const ready = async () => {
      const answer = await fetch(`${this.system.host}/readyz`).catch(() => undefined)
      await answer?.arrayBuffer()
      calm = answer?.status === 200 && (this.shape === 'embedded' || this.#isWhole()) ? calm + 1 : 0
      return calm >= 3
    }
    await waitUntil('the system to be whole again', ready, { timeoutMs: 30_000, everyMs: 100 })
  }

  #isWhole(): boolean {
    const commands = treeOf(this.system.process.pid ?? 0).map(({ command }) => command)
    return ['gateway', 'process-catalog', 'execution', 'scheduler', 'runner'].every((name) =>
      commands.some((command) => command.includes(`apps/${name}/src/main.ts`)),
    )
  }

  /** A service that has reached a fail point is started again a moment later. */
  #victim(command: RegExp): Promise<ProcessId> {
    const find = () => treeOf(this.system.process.pid ?? 0).find((row) => command.test(row.command))
    return waitUntil(`a process with a command line like ${command}`, find, { timeoutMs: 10_000 })
  }
}
