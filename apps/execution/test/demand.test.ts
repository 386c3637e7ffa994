import { Status } from '@automation/contract/execution/v1/execution'
import { RunnerDemandService, type GetDemandResponse } from '@automation/contract/runner/v1/demand'
import { RunnerOperatorService } from '@automation/contract/execution/v1/runner_operator'
import { ownContext } from '@automation/rpc'
import { until } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({ runnerLeaseMs: 600, teamMaxRunning: 2, measureMs: 300 }, 2)
})
afterEach(async () => {
  await system.clear()
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(() => system.stop())

const service = () => ownContext({ role: 'service', team: '', subject: 'sandbox', name: 'sandbox' }, 5000)

const operator = () => ownContext({ role: 'operator', team: '', subject: 'operator', name: 'operator' }, 5000)

function demand(replica: number, capacity = { runners: 1, mostRunners: 1, trouble: '' }): Promise<GetDemandResponse> {
  return system.replicas[replica]!.network.client(RunnerDemandService).getDemand(
    { pool: 'default', capacity },
    service(),
  )
}

test('every replica tells of all runners: whose each is, what it runs, and since when it is idle', async () => {
  const busy = await system.runner({ oneTeam: true, runs: () => undefined })
  const id = await system.start('a')
  await busy.run(id)
  await system.runner({ oneTeam: true })
  for (const replica of [0, 1]) {
    const { sessions } = await demand(replica)
    expect(sessions.map(({ team, running, oneTeam }) => ({ team, running, oneTeam }))).toEqual([
      { team: 'a', running: 1, oneTeam: true },
      { team: '', running: 0, oneTeam: true },
    ])
    expect(sessions[0]!.idleMs).toBe(0n)
  }
  busy.finish(id)
  await system.ended(id, 'a')
  const { sessions } = await demand(1)
  expect(sessions[0]).toMatchObject({ team: 'a', running: 0, slots: 4 })
})

test('a runner whose session has ended is in no list', async () => {
  const runner = await system.runner({ oneTeam: true })
  expect((await demand(0)).sessions).toHaveLength(1)
  await runner.goodbye()
  expect((await demand(0)).sessions).toEqual([])
})

test('an operator is told of runners that were made and have not come, and why; not of those that have', async () => {
  const come = await system.runner({ oneTeam: true })
  const [session] = (await demand(0)).sessions
  const starting = [
    { runnerName: session!.runnerName, why: 'its container runs' },
    { runnerName: 'runner-1.uid', why: 'Unschedulable: 0/1 nodes are available' },
  ]
  const capacity = { runners: 2, mostRunners: 3, trouble: '', whyNone: '2 in a row did not start', starting }
  await system.replicas[0]!.network.client(RunnerDemandService).getDemand({ pool: 'default', capacity }, service())
  const operators = system.replicas[0]!.network.client(RunnerOperatorService)
  const { runners, poolsOnDemand } = await operators.listRunners({}, operator())
  expect(runners).toHaveLength(1)
  expect(poolsOnDemand).toMatchObject([{ pool: 'default', whyNone: capacity.whyNone, starting: [starting[1]] }])
  await expect(operators.listRunners({}, service())).rejects.toMatchObject({ kind: 'permission_denied' })
  await come.goodbye()
})

test('teams that wait are told, the one that has waited longest first, and none that is at its limit', async () => {
  const runner = await system.runner({ oneTeam: true, slots: 8, runs: () => undefined })
  const own = [await system.start('a'), await system.start('a')]
  for (const id of own) await runner.run(id)
  const waiting = [await system.start('c'), await system.start('b'), await system.start('a')]
  await until(async () => (await system.get(waiting[2]!, 'a')).status === Status.QUEUED)
  const answer = await demand(1)
  expect(answer.waiting.map(({ team }) => team)).toEqual(['c', 'b'])
  expect(Number(answer.waiting[0]!.waitedMs)).toBeGreaterThanOrEqual(Number(answer.waiting[1]!.waitedMs))
  for (const id of own) runner.finish(id)
  await runner.run(waiting[2])
  runner.finish(waiting[2]!)
  await system.ended(waiting[2]!, 'a')
})

test('a run that waits for a runner pod is told how it stands with them', async () => {
  const why = async (team: string) => {
    const id = await system.start(team)
    return (await system.get(id, team)).timeline.at(-1)!.explanation
  }
  await demand(0, { runners: 0, mostRunners: 3, trouble: '' })
  expect(await why('a')).toMatch(/: a runner pod is made for the team: 0 of 3 of the pool default are there$/)
  await system.runner({ oneTeam: true })
  await until(async () => (await demand(0)).sessions[0]?.team === 'a')
  await demand(0, { runners: 3, mostRunners: 3, trouble: '' })
  expect(await why('b')).toMatch(/: all 3 runner pods of the pool default serve other teams: the next one/)
  const detail = async () => (await system.replicas[0]!.part.ready()).find(({ name }) => name === 'runners')!.detail
  await expect
    .poll(detail)
    .toMatch(/; 1 teams wait for a runner that serves them: all 3 runner pods serve other teams, KUBERNETES_PODS/)
  await demand(0, { runners: 1, mostRunners: 3, trouble: 'runner pods do not start at the moment' })
  expect(await why('c')).toMatch(/: no runner pod of the pool default serves the team, and runner pods do not start/)
})

test('demand is for services, and for a pool that is there', async () => {
  const client = system.replicas[0]!.network.client(RunnerDemandService)
  await expect(client.getDemand({ pool: 'nowhere' }, service())).rejects.toMatchObject({ code: 'unknown_pool' })
  const runner = ownContext({ role: 'runner', team: '', subject: 'r', name: 'r' }, 5000)
  await expect(client.getDemand({ pool: 'default' }, runner)).rejects.toMatchObject({ code: 'permission_denied' })
})

// The last one: a team stays suspended.
test('a metric of one replica tells how many runners are wanted: by team, and none for a team at its limit or suspended', async () => {
  const series = /^execution_runners_wanted\{pool="default",cell=""\} (\d+)$/m
  const untilWanted = (count: number) =>
    until(
      async () => {
        const texts = await Promise.all(system.replicas.map(({ metrics }) => metrics.metrics()))
        const told = texts.flatMap((text) => series.exec(text)?.[1] ?? [])
        return told.length === 1 && Number(told[0]) === count
      },
      { what: `${count} runners are wanted`, timeoutMs: 20_000 },
    )
  for (const team of ['b', 'c']) await system.start(team)
  await untilWanted(1)
  await system.runner({ oneTeam: true, slots: 1, runs: () => undefined })
  // One of the two teams has the runner, and the other none.
  await untilWanted(2)
  for (const team of ['away', 'away', 'away']) await system.start(team)
  // Two slots for a team that may run two.
  await untilWanted(4)
  const unserved = async () => {
    const { detail } = (await system.replicas[0]!.part.ready()).find(({ name }) => name === 'runners')!
    return Number(/(\d+) teams wait/.exec(detail ?? '')?.[1])
  }
  const count = await unserved()
  system.catalog.suspended.push('away')
  await untilWanted(2)
  expect(await unserved()).toBe(count - 1)
})
