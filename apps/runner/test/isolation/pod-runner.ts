import { InProcessNetwork } from '@automation/rpc'
import { createLogger, createMetrics, Environment, type Part } from '@automation/service'
import { until } from '@automation/testing'
import { createRunner, readRunnerConfig } from '../../src/service.ts'
import { ScriptedReplica } from '../scripted-replica.ts'
import { settled } from '../settled.ts'

export interface RunnerInPod {
  runner: Part
  replica: ScriptedReplica
  settled(): Promise<void>
}

/** A runner in a pod that was made for one, with the pod's settings and these, and nothing else of what tests have. */
export async function startInPod(settings: Record<string, string>): Promise<RunnerInPod> {
  const replica = new ScriptedReplica()
  const env = new Environment({ ...process.env, RUNNER_POD: 'name=test', ...settings })
  const network = new InProcessNetwork()
  network.add(replica.services)
  const [logger, metrics] = [createLogger({ service: 'runner', level: 'warn' }), createMetrics()]
  const runner = createRunner(readRunnerConfig(env), { neighbours: network, logger, metrics })
  env.check()
  await runner.start()
  await until(() => replica.isConnected, { what: 'the runner grants slots' })
  return { runner, replica, settled: () => settled(metrics) }
}
