import { Status } from '@automation/contract/execution/v1/execution'
import { until } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import type { ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({}, 2)
})
afterEach(async () => {
  await system.clear()
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(() => system.stop())

const teamsOf = (runner: ScriptedRunner) =>
  new Set(runner.started.map(({ specKey }) => runner.specs.get(specKey)!.team))

const all = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

test('a team that no runner serves waits, and is told; a further runner is its own', async () => {
  const first = await system.runner({ oneTeam: true })
  expect((await system.run('a')).status).toBe(Status.FINISHED)
  const id = await system.start('b')
  const { status, timeline } = await system.get(id, 'b')
  expect(status).toBe(Status.QUEUED)
  expect(timeline.at(-1)!.explanation).toBe(
    "Place 1 in the team's queue in the pool default: the runners of the pool default serve one team each, and all serve other teams",
  )
  const ready = await system.replicas[0]!.part.ready()
  expect(ready.find(({ name }) => name === 'runners')!.detail).toMatch(/; 1 teams wait for a runner that serves them/)
  await all(5, () => system.run('a'))
  expect((await system.get(id, 'b')).status).toBe(Status.QUEUED)
  const second = await system.runner({ oneTeam: true })
  expect((await system.ended(id, 'b')).status).toBe(Status.FINISHED)
  expect([teamsOf(first), teamsOf(second)]).toEqual([new Set(['a']), new Set(['b'])])
})

test('runners of one team each: every team that gets one is served by it alone, and nothing runs twice', async () => {
  const teams = ['a', 'b', 'c', 'd']
  const ids = await all(80, async (index) => ({
    team: teams[index % 4]!,
    id: await system.start(teams[index % 4]!),
  }))
  const runners = await all(3, () => system.runner({ oneTeam: true, slots: 4 }))
  const served = () => runners.map(({ team }) => team)
  await until(() => !served().includes(''))
  // Replicas may give runners to the same team at the same moment.
  const without = teams.filter((team) => !served().includes(team))
  const inTurn = ids.filter(({ team }) => !without.includes(team))
  for (const { id, team } of inTurn) expect((await system.ended(id, team)).status).toBe(Status.FINISHED)
  for (const { id, team } of ids)
    if (without.includes(team)) expect((await system.get(id, team)).status).toBe(Status.QUEUED)
  for (const runner of runners) expect(teamsOf(runner)).toEqual(new Set([runner.team]))
  const started = runners.flatMap((runner) => runner.started.map((run) => run.executionId))
  expect(started.toSorted()).toEqual(inTurn.map(({ id }) => id).toSorted())
})

test('a runner whose slot came back unused is still for any team', async () => {
  system.catalog.put('fleeting')
  const id = await system.start('a', { identifier: 'fleeting' })
  system.catalog.remove('fleeting')
  const runner = await system.runner({ oneTeam: true })
  expect((await system.ended(id, 'a')).timeline.at(-1)).toMatchObject({ explanation: 'Process not found' })
  expect((await system.run('b')).status).toBe(Status.FINISHED)
  expect(runner.team).toBe('b')
})
