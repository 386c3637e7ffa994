import { InProcessNetwork, type ServedService } from '@automation/rpc'
import { Environment, type Part } from '@automation/service'
import { testContext, until } from '@automation/testing'
import { createRunner, readRunnerConfig, type RunnerConfig } from '../src/service.ts'
import { ScriptedReplica } from './scripted-replica.ts'
import { settled } from './settled.ts'

export interface RunnerUnderTest {
  runner: Part
  replica: ScriptedReplica
  /** Resolves when no child is busy, not even with looking at itself. */
  settled(): Promise<void>
  /** How many children it has, whatever they do. */
  children(): Promise<number>
  /** The value of a metric without labels, or of the one with `how`. */
  metric(name: string, how?: string): Promise<number>
  stop(graceMs?: number): Promise<void>
}

/** What is no setting, and other here than in a runner. */
interface FixedValues {
  children?: Partial<RunnerConfig['children']>
  dependencies?: Partial<RunnerConfig['dependencies']>
}

/** One whose fixed values are others. */
export function startRunnerWith(fixed: FixedValues, settings: Record<string, string> = {}): Promise<RunnerUnderTest> {
  return startRunner(settings, new ScriptedReplica(), [], fixed)
}

/** A runner with its real children, and a scripted replica that it is connected to. */
export async function startRunner(
  settings: Record<string, string> = {},
  replica = new ScriptedReplica(),
  others: ServedService[] = [],
  fixed: FixedValues = {},
): Promise<RunnerUnderTest> {
  // Process code of tests calls servers on this machine, and runs are of several teams.
  const own = { RUNNER_POD: 'name=test', ISOLATION_NETWORK: 'host', ISOLATION_MANY_TEAMS: 'true' }
  const env = new Environment({ ...own, ...settings })
  const read = readRunnerConfig(env)
  env.check()
  const config = {
    ...read,
    children: { ...read.children, ...fixed.children },
    dependencies: { ...read.dependencies, ...fixed.dependencies },
  }
  const network = new InProcessNetwork()
  network.add([...replica.services, ...others])
  const context = testContext(network)
  const runner = createRunner(config, context)
  await runner.start()
  await until(() => replica.isConnected, { what: 'the runner grants slots' })
  const metric = async (name: string, how?: string) => {
    const { values } = await context.metrics.getSingleMetric(name)!.get()
    return values.find(({ labels }) => how === undefined || labels['how'] === how)?.value ?? 0
  }
  return {
    runner,
    replica,
    settled: () => settled(context.metrics),
    children: async () => {
      const { values } = await context.metrics.getSingleMetric('runner_children')!.get()
      return values.reduce((sum, { value }) => sum + value, 0)
    },
    metric,
    stop: (graceMs = 5000) => runner.stop(graceMs),
  }
}
