import { Status } from '@automation/contract/execution/v1/execution'
import { InProcessNetwork, type Neighbours } from '@automation/rpc'
import { Environment } from '@automation/service'
import { testContext, until } from '@automation/testing'
import { afterEach, expect, test } from 'vitest'
import { createRunner, readRunnerConfig } from '../src/service.ts'
import { ScriptedReplica } from './scripted-replica.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** A runner of one team with slots for four runs, at these replicas. */
async function startForOneTeam(...replicas: ScriptedReplica[]): Promise<void> {
  void (await startRetiring({}, replicas))
}

/** The same; when it retires it is stopped, as its process is. Gives how often it did, and what its stop comes to. */
async function startRetiring(settings: Record<string, string>, replicas: ScriptedReplica[]) {
  const retired: Promise<void>[] = []
  const networks = replicas.map(({ services }) => {
    const network = new InProcessNetwork()
    network.add(services)
    return network
  })
  const neighbours: Neighbours = {
    client: (service) => networks[0]!.client(service),
    inCells: (service) => networks[0]!.inCells(service),
    replicas: () => networks.map((_, index) => `${index}`),
    at: (service, address) => networks[Number(address)]!.client(service),
  }
  const env = new Environment({ RUNNER_POD: 'name=test', RUNNER_SLOTS: '4', ISOLATION: 'none', ...settings })
  const runner = createRunner(readRunnerConfig(env), testContext(neighbours), () => retired.push(runner.stop(60_000)))
  await runner.start()
  stops.push(() => runner.stop(500))
  return retired
}

const granted = (replicas: ScriptedReplica[]) => replicas.reduce((sum, { credit }) => sum + credit, 0)

test('a runner of one team grants one slot to one replica until it has a run, then all, for the team of that run', async () => {
  const replicas = [new ScriptedReplica(), new ScriptedReplica()]
  await startForOneTeam(...replicas)
  await until(() => granted(replicas) === 1)
  expect(replicas.map(({ hellos }) => hellos[0]?.oneTeam)).toEqual([true, true])
  expect(replicas.flatMap(({ teams }) => teams)).toEqual([''])
  const [first] = replicas.toSorted((a, b) => b.credit - a.credit)
  const end = Promise.withResolvers<void>()
  first!.onStart = () => end.promise.then(() => ({ executionId: 'other', status: Status.CREATED }))
  const { ended } = first!.hand('await svc.processes.run("other"); return 1', { spec: { team: 'blue' } })
  await until(() => granted(replicas) === 3)
  end.resolve()
  expect((await ended).value).toBe(1)
  await until(() => granted(replicas) === 4)
  expect(new Set(replicas.flatMap(({ teams }) => teams.slice(-1)))).toEqual(new Set(['blue']))
  for (const { teams } of replicas) expect(teams).toContain('blue')
})

test('a runner that is made on demand serves one team, whatever its isolation parts', async () => {
  const replica = new ScriptedReplica()
  void (await startRetiring({ ISOLATION_MANY_TEAMS: 'true', RUNNER_POD: 'name=test,idleMs=60000' }, [replica]))
  await until(() => replica.credit === 1)
  expect(replica.hellos[0]?.oneTeam).toBe(true)
  expect((await replica.run('return 1', { spec: { team: 'blue' } })).value).toBe(1)
  const { explanation } = await replica.run('return 2', { spec: { team: 'red' } })
  expect(explanation).toBe('Error: The runner serves another team')
})

test('the single slot moves when its replica is away', async () => {
  const replicas = [new ScriptedReplica(), new ScriptedReplica()]
  await startForOneTeam(...replicas)
  await until(() => granted(replicas) === 1)
  const [holder, other] = replicas.toSorted((a, b) => b.credit - a.credit)
  holder!.drop()
  await until(() => other!.credit === 1)
  await until(() => holder!.hellos.length === 2)
  expect(holder!.credit).toBe(0)
})

test('what another replica has taken does not come again each time that the own one is not reached', async () => {
  const replicas = [new ScriptedReplica(), new ScriptedReplica()]
  await startForOneTeam(...replicas)
  await until(() => granted(replicas) === 1)
  const [holder, other] = replicas.toSorted((a, b) => b.credit - a.credit)
  const lasting = 'for (let n = 0; n < 20; n++) { console.log(n); await new Promise((r) => setTimeout(r, 100)) }'
  const { id } = holder!.hand(lasting, { spec: { team: 'blue' } })
  await until(() => holder!.logOf(id).length > 0)
  holder!.isAway = true
  holder!.drop()
  await until(() => other!.results.length > 0, { what: 'the result' })
  const times = [...Map.groupBy(other!.heard, (first) => first).values()].map(({ length }) => length)
  expect(Math.max(...times)).toBe(1)
})

test('a run of another team never begins', async () => {
  const replica = new ScriptedReplica()
  await startForOneTeam(replica)
  await until(() => replica.credit === 1)
  expect((await replica.run('return 1', { spec: { team: 'blue' } })).value).toBe(1)
  const { explanation, log } = await replica.run('console.log("began")', { spec: { team: 'red' } })
  expect(explanation).toBe('Error: The runner serves another team')
  expect(log.map(({ message }) => message)).not.toContain('began')
  expect((await replica.run('return 2', { spec: { team: 'blue' } })).value).toBe(2)
})

test('a replica that comes again is told whose the runner is, before it gets a slot', async () => {
  const replica = new ScriptedReplica()
  await startForOneTeam(replica)
  await until(() => replica.credit === 1)
  await replica.run('return 1', { spec: { team: 'blue' } })
  replica.teams.length = 0
  replica.drop()
  await until(() => replica.credit === 4)
  expect(replica.teams[0]).toBe('blue')
})

test('a runner that is a team’s retires when it had no run for long, and runs what was on its way all the same', async () => {
  const replica = new ScriptedReplica()
  replica.onItsWay = 1
  const retired = await startRetiring({ RUNNER_POD: 'name=test,idleMs=300' }, [replica])
  await until(() => replica.credit === 1)
  expect((await replica.run('return 1', { spec: { team: 'blue' } })).value).toBe(1)
  await until(() => replica.isDrained, { what: 'the runner takes its slots back' })
  expect((await replica.run('return 2', { spec: { team: 'blue' } })).value).toBe(2)
  await until(() => retired.length > 0)
  await Promise.all(retired)
  expect([retired.length, replica.goodbyes]).toEqual([1, 1])
})

test('a runner that is nobody’s does not retire, nor does one with a run; renewals say how long it has been idle, and whose it is', async () => {
  const replica = new ScriptedReplica()
  replica.leaseMs = 300
  const retired = await startRetiring({ RUNNER_POD: 'name=test,idleMs=200' }, [replica])
  await until(() => replica.renewals.some(({ idleMs, team }) => idleMs > 400 && team === ''))
  expect(retired).toEqual([])
  const end = Promise.withResolvers<void>()
  replica.onStart = () => end.promise.then(() => ({ executionId: 'other', status: Status.CREATED }))
  const { ended } = replica.hand('await svc.processes.run("other"); return 1', { spec: { team: 'blue' } })
  const before = replica.renewals.length
  await until(() => replica.renewals.length > before + 6)
  expect(replica.renewals.at(-1)).toMatchObject({ idleMs: 0, team: 'blue' })
  expect(retired).toEqual([])
  end.resolve()
  await ended
  await until(() => retired.length === 1)
})
