import type { Check, Part, PartContext } from '@automation/service'
import { Launcher } from './children/launch.ts'
import { MemoryWatch } from './children/memory-watch.ts'
import { ChildPool } from './children/pool.ts'
import type { RunnerConfig } from './config.ts'
import { runnerMetrics, type Metrics } from './metrics.ts'
import { Runner } from './runner.ts'
import type { ActiveRun } from './runs/active-run.ts'

export { readRunnerConfig, type RunnerConfig } from './config.ts'

// Node's own share of what a run's processes hold.
const nodeMb = 64
// Frames beside a return value: failures with their stacks, calls with their parameters.
const frameExtraBytes = 2 * 1024 * 1024
// Of the time to stop: for ending what still runs, and for results to be stored.
const endingMs = 2500
const storingMs = 800

/**
 * A runner: runs process code in children of its own. Serves nothing; calls `RunnerService` at every replica, and
 * `RunService` for what process code asks for.
 */
export function createRunner(config: RunnerConfig, { neighbours, logger, metrics: registry }: PartContext): Part {
  let parts: Awaited<ReturnType<typeof assemble>> | undefined
  let stopping: Promise<void> | undefined

  async function assemble() {
    const launcher = await Launcher.prepare({ ...config.children, memoryMb: config.memoryMb, logger })
    const frameMaxBytes = config.returnValueMaxBytes + frameExtraBytes
    const pool = new ChildPool({ config: config.children, launcher, frameMaxBytes, logger })
    const runner: Runner = new Runner({ config, neighbours, pool, metrics: measuredBy(pool, () => runner), logger })
    const watch = new MemoryWatch({
      limitMb: config.memoryMb + nodeMb,
      running: () => pool.longRunning(1000),
      all: () => pool.children,
      exceeded: (child) => (child.task as ActiveRun | undefined)?.failOfMemory(),
    })
    return { launcher, pool, runner, watch }
  }

  function measuredBy(pool: ChildPool, runner: () => Runner): Metrics {
    return runnerMetrics(registry, {
      slots: config.slots,
      running: () => runner().running,
      keptResults: () => runner().keptResults,
      connected: () => runner().connected,
      children: () => pool.children,
    })
  }

  async function stop(graceMs: number): Promise<void> {
    if (parts === undefined) return
    const { launcher, pool, runner, watch } = parts
    await runner.stop(Math.max(0, graceMs - endingMs), Math.min(storingMs, graceMs))
    const gone = pool.stop()
    launcher.refuse()
    await gone
    watch.stop()
    launcher.close()
  }

  return {
    name: 'runner',
    serves: [],
    async start() {
      parts = await assemble()
      parts.pool.start()
      parts.watch.start()
      parts.runner.start()
      logger.info({ pool: config.pool, places: config.slots, wall: 'none (launcher)' }, 'the runner starts')
    },
    stop: (graceMs) => (stopping ??= stop(graceMs)),
    async ready() {
      return checks(parts)
    },
  }
}

function checks(parts: { pool: ChildPool; runner: Runner } | undefined): Check[] {
  const { connected = 0, replicas = 0 } = parts?.runner ?? {}
  return [
    { name: 'session', ok: connected > 0, detail: `${connected} of ${replicas} replicas of execution` },
    { name: 'children', ok: parts?.pool.failedToStart === false },
    { name: 'wall', ok: true, detail: 'none (launcher)' },
  ]
}
