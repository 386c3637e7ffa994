import { InProcessNetwork } from '@automation/rpc'
import { Environment, type Part } from '@automation/service'
import { testContext, until } from '@automation/testing'
import { createRunner, readRunnerConfig } from '../src/service.ts'
import { ScriptedReplica } from './scripted-replica.ts'

export interface RunnerUnderTest {
  runner: Part
  replica: ScriptedReplica
  stop(graceMs?: number): Promise<void>
}

/** A runner with its real children, and a scripted replica that it is connected to. */
export async function startRunner(
  settings: Record<string, string> = {},
  replica = new ScriptedReplica(),
): Promise<RunnerUnderTest> {
  const env = new Environment({ RUNNER_NAME: 'test', ...settings })
  const config = readRunnerConfig(env)
  env.check()
  const network = new InProcessNetwork()
  network.add(replica.services)
  const runner = createRunner(config, testContext(network))
  await runner.start()
  await until(() => replica.isConnected, { what: 'the runner lends places' })
  return { runner, replica, stop: (graceMs = 5000) => runner.stop(graceMs) }
}
