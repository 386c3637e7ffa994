import { CpuGroups, describeIsolation, summarizeIsolation, type Isolation } from '@automation/jail'
import type { Check, Part, PartContext } from '@automation/service'
import type { Child } from './children/child.ts'
import { ChildLauncher } from './children/child-launcher.ts'
import { DiskWatch } from './children/disk-watch.ts'
import { chooseCpuPriority } from './children/cpu-priority/cpu-priority.ts'
import { MemoryWatch } from './children/memory-watch.ts'
import { ChildPool } from './children/pool.ts'
import { longRunning } from './children/retirement.ts'
import type { RunnerConfig } from './config.ts'
import { runnerDependencies } from './dependencies/runner-dependencies.ts'
import { runnerMetrics, type Metrics, tracedEnds } from './metrics.ts'
import { Runner } from './runner.ts'
import type { ActiveRun } from './runs/active-run.ts'
import { reason } from './runs/explanation.ts'
import { RunStarter } from './runs/run-starter.ts'

export { readRunnerConfig, type RunnerConfig } from './config.ts'

// Node's own share of what a run's processes hold.
const nodeMb = 64
// As in a jail, where the kernel counts them.
const maxProcesses = 256
const tooManyProcesses = reason('OutOfProcessesError', `The run has more than ${maxProcesses} processes`)
// What lies in sockets counts to nobody: with those of usual sizes, about half a gigabyte.
const maxOpenFiles = 2048
const tooManyOpenFiles = reason('OutOfFilesError', `The run has more than ${maxOpenFiles} files and sockets open`)
// Runs of this length are looked at.
const longMs = 200
// Frames beside a return value: failures with their stacks, calls with their parameters.
const frameExtraBytes = 2 * 1024 * 1024
// Of the time to stop: for ending what still runs, and for results to be stored.
const endingMs = 2500
const storingMs = 800

/**
 * A runner: runs process code in children of its own. Serves nothing; calls `RunnerService` at every replica, and
 * `RunService`, `StorageService` and `DatastoreService` for what process code asks for, `PackageSetService` for packages.
 * `retire` is called once by a runner of one team that was idle for long.
 */
export function createRunner(config: RunnerConfig, context: PartContext, retire?: () => void): Part {
  const { neighbours, logger, metrics: registry, tracer } = context
  let parts: Awaited<ReturnType<typeof assemble>> | undefined
  let stopping: Promise<void> | undefined

  async function assemble() {
    const launcher = await ChildLauncher.prepare({
      ...config.children,
      memoryMb: config.memoryMb,
      isolation: config.isolation,
      groups: CpuGroups.find('runner'),
      logger,
    })
    const frameMaxBytes = config.returnValueMaxBytes + frameExtraBytes
    const cpuPriority = chooseCpuPriority(launcher.groups, launcher.depth)
    const pool = new ChildPool({ config: config.children, launcher, frameMaxBytes, cpuPriority, logger })
    const metrics = tracedEnds(
      measuredBy(launcher, pool, () => runner),
      tracer,
    )
    const { withoutPython } = launcher
    // The key of a pod is good for one team, however well the pod could part several.
    const isolation = config.idleExitMs > 0 ? { ...launcher.isolation, oneTeam: true } : launcher.isolation
    const dependencies = runnerDependencies(config, launcher, pool, context)
    const removeSets = (keys: readonly string[]) => dependencies.removeSets(keys)
    const working = {
      removeSets,
      starter: new RunStarter(pool, dependencies),
      metrics,
      withoutPython,
      isolation,
      retire,
    }
    const runner: Runner = new Runner({ config, neighbours, logger, ...working })
    const watch = new MemoryWatch({
      limitMb: config.memoryMb + nodeMb,
      due: () => [
        ...longRunning(pool.children, longMs),
        ...[...pool.children].filter(({ state, measuredMb }) => state === 'idle' && measuredMb === undefined),
      ],
      all: () => pool.children,
      exceeded: (child) => atFault(child, (run) => run.failOfMemory()),
      inMemory: launcher.isolation.level === 'namespaces' ? ['/tmp', '/dev/shm'] : [],
      processLimit: maxProcesses,
      tooMany: (child) => atFault(child, (run) => run.fail(tooManyProcesses, 'kill')),
      openFilesLimit: maxOpenFiles,
      tooManyOpen: (child) => atFault(child, (run) => run.fail(tooManyOpenFiles, 'kill')),
      restless: (child) => child.end('kill'),
      look: (child, processes) => {
        child.meter.look(processes)
        cpuPriority.look(child, processes)
      },
    })
    const disk = new DiskWatch({
      limitMb: config.children.tmpMb,
      children: () => [
        ...longRunning(pool.children, 1000),
        ...[...pool.children].filter(({ keepsImports }) => keepsImports),
      ],
      exceeded: (child, words) => atFault(child, (run) => run.fail(reason('OutOfDiskError', words), 'kill')),
    })
    return { launcher, isolation, pool, runner, watch, disk, dependencies }
  }

  function measuredBy({ isolation }: ChildLauncher, pool: ChildPool, runner: () => Runner): Metrics {
    return runnerMetrics(registry, {
      isolation,
      slots: config.slots,
      running: () => runner().running,
      keptResults: () => runner().keptResults,
      connected: () => runner().connected,
      children: () => pool.children,
    })
  }

  async function stop(graceMs: number): Promise<void> {
    if (parts === undefined) return
    const { launcher, pool, runner, watch, disk, dependencies } = parts
    await runner.stop(Math.max(0, graceMs - endingMs), Math.min(storingMs, graceMs))
    const gone = pool.stop()
    launcher.refuse()
    await dependencies.stop()
    await gone
    watch.stop()
    disk.stop()
    launcher.close()
  }

  return {
    name: 'runner',
    serves: [],
    async start() {
      parts = await assemble()
      await parts.dependencies.start()
      parts.pool.start()
      parts.watch.start()
      parts.disk.start()
      parts.runner.start()
      const { isolation } = parts
      const level = isolation.tried.length === 0 && isolation.remedy === undefined ? 'info' : 'warn'
      logger[level](
        { pool: config.pool, slots: config.slots, isolation },
        `the runner starts; isolation: ${describeIsolation(isolation)}`,
      )
    },
    stop: (graceMs) => (stopping ??= stop(graceMs)),
    async ready() {
      return checks(parts)
    },
  }
}

/** Its run fails; where it has none, what its version has imported goes on, and it ends. */
function atFault(child: Child, fail: (run: ActiveRun) => void): void {
  if (child.task !== undefined) fail(child.task as ActiveRun)
  else if (child.state === 'idle') child.end('kill')
}

function checks(
  parts: { launcher: ChildLauncher; isolation: Isolation; pool: ChildPool; runner: Runner } | undefined,
): Check[] {
  const { connected = 0, replicas = 0 } = parts?.runner ?? {}
  const withoutPython = parts?.launcher.withoutPython
  return [
    { name: 'session', ok: connected > 0, detail: `${connected} of ${replicas} replicas of execution` },
    { name: 'children', ok: parts?.pool.failedToStart === false },
    ...(withoutPython === undefined ? [] : [{ name: 'python', ok: true, detail: withoutPython }]),
    {
      name: 'isolation details',
      ok: parts !== undefined,
      detail: parts && describeIsolation(parts.isolation),
    },
    { name: 'isolation', ok: parts !== undefined, ...(parts && summarizeIsolation(parts.isolation)) },
  ]
}
