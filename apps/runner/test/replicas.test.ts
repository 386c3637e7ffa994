import { Status } from '@automation/contract/execution/v1/execution'
import { stopping } from '@automation/errors'
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
    inCells: (service) => networks[0]!.inCells(service),
    replicas: () => networks.map((_, index) => `${index}`),
    at: (service, address) => networks[Number(address)]!.client(service),
  }
}

const accepted = async () => ({ executionId: 'e', status: Status.CREATED })

async function startRunnerAt(replicas: ScriptedReplica[], neighbours = neighboursOf(replicas)) {
  const config = readRunnerConfig(new Environment({ RUNNER_POD: 'name=test', ISOLATION_MANY_TEAMS: 'true' }))
  const runner = createRunner(config, testContext(neighbours))
  await runner.start()
  await until(() => replicas.every(({ isConnected }) => isConnected))
  return runner
}

test("a run's calls go to the replica that assigned it", async () => {
  const replicas = [new ScriptedReplica(), new ScriptedReplica()]
  for (const replica of replicas) replica.onStart = accepted
  const runner = await startRunnerAt(replicas)
  for (const replica of replicas) await replica.run('for (const p of ["a", "b", "c"]) await svc.processes.run(p)')
  expect(replicas.map(({ calls }) => calls.length)).toEqual([3, 3])
  await runner.stop(3000)
  expect(replicas.map(({ goodbyes }) => goodbyes)).toEqual([1, 1])
})

test('a call that its replica takes no more, as it stops, is made at another', async () => {
  const [own, other] = [new ScriptedReplica(), new ScriptedReplica()]
  own.onStart = async () => {
    throw stopping()
  }
  other.onStart = accepted
  const neighbours = neighboursOf([own, other])
  const runner = await startRunnerAt([own, other], {
    ...neighbours,
    client: (service) => neighbours.at(service, '1'),
  })
  const { value } = await own.run('return svc.processes.run("a")')
  expect(value).toBe('e')
  expect([own, other].map(({ calls }) => calls.map(({ call }) => call.callNumber))).toEqual([[1], [1]])
  await runner.stop(3000)
})

test('a replica where runs wait gets slots that lie idle at others, which keep some', async () => {
  const replicas = [new ScriptedReplica(), new ScriptedReplica(), new ScriptedReplica()]
  const runner = await startRunnerAt(replicas)
  await until(() => replicas.reduce((sum, { credit }) => sum + credit, 0) === 64)
  const [hot, ...others] = replicas
  const want = () => hot!.send({ case: 'slotsWanted', value: {} })
  want()
  await until(() => hot!.credit > 30)
  for (let count = 0; count < 5; count += 1) {
    const before = hot!.credit
    want()
    await until(() => hot!.credit > before || others.every(({ credit }) => credit === 6))
  }
  expect(replicas.map(({ credit }) => credit)).toEqual([52, 6, 6])
  await runner.stop(3000)
})

test('a slot goes back to the replica whose run it has held', async () => {
  const replicas = [new ScriptedReplica(), new ScriptedReplica()]
  const runner = await startRunnerAt(replicas)
  await until(() => replicas.every(({ credit }) => credit === 32))
  for (let count = 0; count < 3; count += 1) {
    await replicas[0]!.run('return 1')
    await until(() => replicas[0]!.credit === 32)
  }
  expect(replicas[1]!.credit).toBe(32)
  await runner.stop(3000)
})
