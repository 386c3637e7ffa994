import { Language } from '@automation/contract/common/v1/language'
import { Status } from '@automation/contract/execution/v1/execution'
import { until } from '@automation/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import type { ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

const onlyJavaScript = { languages: [Language.JAVASCRIPT] }
const both = { languages: [Language.JAVASCRIPT, Language.PYTHON] }
const python = { identifier: 'snake' }

let system: System

beforeEach(async () => {
  system = await System.start()
  system.catalog.put('snake', { language: Language.PYTHON })
})
afterEach(async () => {
  expect(await brokenInvariants(system)).toEqual([])
  await system.stop()
})

const slugsOf = (runner: ScriptedRunner) =>
  runner.started.map(({ specKey }) => runner.specs.get(specKey)!.processSlug).toSorted()

const all = <T>(count: number, make: () => Promise<T>) => Promise.all(Array.from({ length: count }, make))

test('a run waits for a runner of its language, and is told; runs of the team in others do not wait behind it', async () => {
  const first = await system.runner({ ...onlyJavaScript, slots: 2 })
  const id = await system.start('a', python)
  const { status, timeline } = await system.get(id, 'a')
  expect(status).toBe(Status.QUEUED)
  expect(timeline.at(-1)!.explanation).toBe(
    "Place 1 in the team's queue in the pool default: no runner of the pool default runs Python",
  )
  const ready = await system.replicas[0]!.part.ready()
  expect(ready.find(({ name }) => name === 'runners')!.detail).toMatch(
    /; 1 teams wait for a runner that serves them: no runner of the pool default runs Python: one needs python3, 3.11 or later$/,
  )
  const outcomes = await all(6, () => system.run('a'))
  expect(outcomes.map(({ status: ended }) => ended)).toEqual(Array.from({ length: 6 }, () => Status.FINISHED))
  expect((await system.get(id, 'a')).status).toBe(Status.QUEUED)
  const second = await system.runner(both)
  expect((await system.ended(id, 'a')).status).toBe(Status.FINISHED)
  expect(slugsOf(first)).not.toContain('snake')
  expect(slugsOf(second)).toEqual(['snake'])
})

test('what was queued before any runner came goes to runners of its language only, the oldest first', async () => {
  const snakes: string[] = []
  const hellos: string[] = []
  for (let count = 0; count < 10; count++) {
    snakes.push(await system.start('a', python))
    hellos.push(await system.start('a'))
  }
  const first = await system.runner({ ...onlyJavaScript, slots: 1 })
  for (const id of hellos) expect((await system.ended(id, 'a')).status).toBe(Status.FINISHED)
  expect(first.started.map(({ executionId }) => executionId)).toEqual(hellos)
  const second = await system.runner({ ...both, slots: 1 })
  for (const id of snakes) expect((await system.ended(id, 'a')).status).toBe(Status.FINISHED)
  expect(second.started.map(({ executionId }) => executionId)).toEqual(snakes)
})

test('runs in JavaScript leave runners of both languages to Python while others are free', async () => {
  const large = await system.runner({ ...both, slots: 8, runs: () => undefined })
  const small = await system.runner({ ...onlyJavaScript, slots: 2, runs: () => undefined })
  await system.start('a')
  await system.start('a')
  await until(() => small.running === 2)
  await system.start('a')
  await until(() => large.running === 1)
  for (const runner of [large, small]) for (const { executionId } of runner.started) runner.finish(executionId)
  await until(async () => (await system.rows('SELECT FROM executions WHERE status = 4')).length === 0)
})

test('rows that a former release has queued have no language, and any runner takes them', async () => {
  const id = await system.start('a')
  await system.rows('UPDATE executions SET language = NULL')
  await system.runner(onlyJavaScript)
  expect((await system.ended(id, 'a')).status).toBe(Status.FINISHED)
})

test('a queued run is found by a replica that was not told of it', async () => {
  const runner = await system.runner({ ...onlyJavaScript, slots: 2 })
  const replica = await system.addReplica()
  const id = await system.start('b', python)
  const later = await system.runner(both, {
    ...system.neighbours,
    replicas: () => [replica.address],
  })
  expect((await system.ended(id, 'b')).status).toBe(Status.FINISHED)
  expect(slugsOf(later)).toEqual(['snake'])
  expect(runner.started).toEqual([])
})

test('runners of one team each: a team whose runner lacks its language binds one that has it', async () => {
  const first = await system.runner({ ...onlyJavaScript, oneTeam: true })
  expect((await system.run('a')).status).toBe(Status.FINISHED)
  const id = await system.start('a', python)
  const second = await system.runner({ ...both, oneTeam: true })
  expect((await system.ended(id, 'a')).status).toBe(Status.FINISHED)
  expect([first.team, second.team]).toEqual(['a', 'a'])
  const waits = await system.start('b', python)
  expect((await system.get(waits, 'b')).timeline.at(-1)!.explanation).toBe(
    "Place 1 in the team's queue in the pool default: the runners of the pool default that run Python serve one team each, and all serve other teams",
  )
})
