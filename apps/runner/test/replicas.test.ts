import { Status } from '@automation/contract/execution/v1/execution'
import { InProcessNetwork, type Neighbours } from '@automation/rpc'
import { Environment } from '@automation/service'
import { testContext, until } from '@automation/testing'
import { expect, test } from 'vitest'
import { createRunner, readRunnerConfig } from '../src/service.ts'
import { ScriptedReplica } from './scripted-replica.ts'

/** Neighbours of several replicas, taken in turn where it does not matter which. */
function neighboursOf(replicas: ScriptedReplica[]): Neighbours {
  const networks = replicas.map(({ services }) => {
    const network = new InProcessNetwork()
    network.add(services)
    return network
  })
  let turn = 0
  return {
    client: (service) => networks[(turn += 1) % networks.length]!.client(service),
    replicas: (service) => networks.map((network) => network.client(service)),
    at: (service) => networks[0]!.client(service),
  }
}

test("a run's calls go to the replica that handed it over", async () => {
  const replicas = [new ScriptedReplica(), new ScriptedReplica()]
  for (const replica of replicas) replica.onStart = async () => ({ executionId: 'e', status: Status.CREATED })
  const config = readRunnerConfig(new Environment({ RUNNER_NAME: 'test' }))
  const runner = createRunner(config, testContext(neighboursOf(replicas)))
  await runner.start()
  await until(() => replicas.every(({ isConnected }) => isConnected))
  for (const replica of replicas) await replica.run('for (const p of ["a", "b", "c"]) await svc.processes.run(p)')
  expect(replicas.map(({ calls }) => calls.length)).toEqual([3, 3])
  await runner.stop(3000)
  expect(replicas.map(({ goodbyes }) => goodbyes)).toEqual([1, 1])
})
