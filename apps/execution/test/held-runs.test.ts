import { Status } from '@automation/contract/execution/v1/execution'
import { unavailable } from '@automation/errors'
import { until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { System } from './system.ts'
import { Watched } from './watched.ts'

const needy = { identifier: 'needy' }
const waits = { awaitedDependencies: 'lodash, zod' }
const whyItWaits = 'Waits for packages that are being installed: lodash, zod'

let system: System

beforeAll(async () => {
  system = await System.start({ teamMaxRunning: 2 }, 2)
})
beforeEach(() => void system.catalog.put('needy', waits))
afterEach(async () => {
  await system.dismissRunners()
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(() => system.stop())

const statusesOf = async (id: string) => (await system.get(id)).timeline.map(({ status }) => status)

test('a run waits for packages that are being installed and is told which; others of its team do not wait behind it', async () => {
  const runner = await system.runner({ slots: 4 })
  const ids = [await system.start('demo', needy), await system.start('demo', needy)]
  const keyed = { ...needy, idempotencyKey: { key: 'k', requestHash: new Uint8Array() } }
  ids.push(await system.start('demo', keyed))
  const waiting = system.run('demo', needy)
  for (const id of ids) {
    const { status, timeline } = await system.get(id)
    expect(status).toBe(Status.CREATED)
    expect(timeline.at(-1)!.explanation).toBe(whyItWaits)
    const told = await system.executions.getWaiting({ executionId: id }, userContext('demo'))
    expect(told).toMatchObject({ waiting: true, code: 'packages', reason: whyItWaits })
    expect(told.remedy).toContain('of the team, not with those that are the process’s own')
  }
  for (let count = 0; count < 5; count++) expect((await system.run()).status).toBe(Status.FINISHED)
  expect(await Promise.all(ids.map((id) => system.get(id)))).toMatchObject(ids.map(() => ({ status: Status.CREATED })))
  system.catalog.put('needy')
  expect((await waiting).status).toBe(Status.FINISHED)
  for (const id of ids) {
    expect((await system.ended(id)).status).toBe(Status.FINISHED)
    expect(await statusesOf(id)).toEqual([Status.CREATED, Status.RUNNING, Status.FINISHED])
  }
  const ran = new Set([...runner.specs.values()].map(({ processSlug, digest }) => `${processSlug}: ${digest}`))
  expect(ran.size).toBe(2)
  // What they have run is the source of when they began.
  const { specKey } = runner.started.find(({ executionId }) => executionId === ids[0])!
  const source = () => system.executions.getSource({ executionId: ids[0]! }, userContext('demo')).catch(() => undefined)
  await until(async () => (await source())?.sourceCode === runner.specs.get(specKey)!.sourceCode)
})

test('a team of which the catalog says nothing holds up no other', async () => {
  await system.runner({ slots: 2 })
  const [silent, other] = [await system.start('a-silent', needy), await system.start('other', needy)]
  system.catalog.failures.set('resolveRun a-silent', unavailable('Not now'))
  system.catalog.put('needy')
  expect((await system.ended(other, 'other')).status).toBe(Status.FINISHED)
  expect((await system.get(silent, 'a-silent')).status).toBe(Status.CREATED)
  system.catalog.failures.clear()
  expect((await system.ended(silent, 'a-silent')).status).toBe(Status.FINISHED)
})

test('a run whose packages can not be installed ends as ERROR with the reason; later ones do not wait', async () => {
  const runner = await system.runner({ slots: 2 })
  const id = await system.start('demo', needy)
  const waiting = system.run('demo', needy)
  await until(async () => (await system.rows('SELECT 1 FROM executions WHERE held')).length === 2)
  system.catalog.put('needy', { dependenciesError: 'npm error 404' })
  const explanation = 'The packages of the process could not be installed: npm error 404'
  expect(await waiting).toMatchObject({ status: Status.ERROR, explanation })
  expect((await system.ended(id)).timeline.at(-1)).toMatchObject({ status: Status.ERROR, explanation })
  expect(runner.started).toEqual([])
  expect((await system.run('demo', needy)).status).toBe(Status.FINISHED)
})

test('a run that is killed while it waits for packages never starts', async () => {
  const runner = await system.runner({ slots: 2 })
  const [killed, other] = [await system.start('demo', needy), await system.start('demo', needy)]
  await system.executions.killExecution({ id: killed }, userContext('demo'))
  system.catalog.put('needy')
  expect((await system.ended(other)).status).toBe(Status.FINISHED)
  expect((await system.get(killed)).status).toBe(Status.KILLED)
  expect(runner.started.map(({ executionId }) => executionId)).toEqual([other])
})

test('a run goes on waiting where its replica goes away and while the catalog is away', async () => {
  const { executionId: id } = await system.replicas[1]!.executions.startExecution(needy, userContext('demo'))
  await system.replicas.pop()!.part.stop(0)
  await system.runner({ slots: 2 })
  system.catalog.failure = new Error('away')
  const asked = system.catalog.asked
  await until(() => system.catalog.asked > asked + 1)
  expect((await system.get(id)).status).toBe(Status.CREATED)
  system.catalog.failure = undefined
  system.catalog.put('needy')
  expect((await system.ended(id)).status).toBe(Status.FINISHED)
  await system.addReplica()
})

test('where its packages are there and no slot is free it is QUEUED, soon and once', async () => {
  const id = await system.start('demo', needy)
  const reader = new Watched(system.replicas[1]!, id)
  await reader.has('CREATED')
  expect(reader.explanations).toEqual([whyItWaits])
  system.catalog.put('needy')
  await reader.has('QUEUED')
  expect(reader.explanations[1]).toMatch(/waits for a free slot in the pool default/)
  await system.runner({ slots: 2 })
  await reader.done
  expect(reader.observed).toEqual(['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING', 'FINISHED', 'end FINISHED'])
})

test('runs that wait for packages count in the queue of the team, and are found as CREATED', async () => {
  const narrow = await System.start({ teamMaxRunning: 2, teamMaxQueued: 2 }, 2)
  narrow.catalog.put('needy', waits)
  const ids = [await narrow.start('demo', needy), await narrow.start('demo', needy)]
  const rejected = await narrow.start('demo', needy)
  expect((await narrow.get(rejected)).status).toBe(Status.REJECTED)
  const found = async (status: Status) =>
    (await narrow.executions.listExecutions({ status }, userContext('demo'))).executions.map(({ id }) => id)
  expect(await found(Status.CREATED)).toEqual(ids.toReversed())
  expect(await found(Status.QUEUED)).toEqual([])
  await narrow.runner({ slots: 2 })
  narrow.catalog.put('needy')
  for (const id of ids) expect((await narrow.ended(id)).status).toBe(Status.FINISHED)
  expect(await brokenInvariants(narrow)).toEqual([])
  await narrow.stop()
})

test('a run that was QUEUED for its packages before an update goes on', async () => {
  const id = await system.start('demo', needy)
  await system.rows('UPDATE executions SET status = 2, sequence = 2 WHERE id = $1', [id])
  await system.rows(
    `INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
     SELECT id, 2, 2, now(), team, process_id FROM executions WHERE id = $1`,
    [id],
  )
  await system.runner({ slots: 2 })
  system.catalog.put('needy')
  expect((await system.ended(id)).status).toBe(Status.FINISHED)
})

test('a run of a draft waits for the packages of the draft, whatever its process has', async () => {
  await system.runner({ slots: 2 })
  system.catalog.put('needy')
  const versionId = system.catalog.keepDraft('needy', waits)
  const id = await system.start('demo', { ...needy, draftId: versionId })
  for (let count = 0; count < 5; count++) expect((await system.run('demo', needy)).status).toBe(Status.FINISHED)
  expect(await system.get(id)).toMatchObject({ status: Status.CREATED, trial: true })
  system.catalog.keepDraft('needy', { versionId })
  expect((await system.ended(id)).status).toBe(Status.FINISHED)
})
