import { FiringService, type StartFiringRequestSchema } from '@automation/contract/execution/v1/firing'
import { Origin, Status } from '@automation/contract/execution/v1/execution'
import { serviceContext, until, userContext } from '@automation/testing'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({ teamMaxRunning: 8, teamMaxQueued: 30, parametersMaxBytes: 2000 }, 2)
})
afterEach(async () => {
  await system.dismissRunners()
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(() => system.stop())

/** Without what a message brings: only plain ones may be put together. */
type Firing = Exclude<MessageInitShape<typeof StartFiringRequestSchema>, { $typeName: string }>

const nominalTimeMs = 1_800_000_000_000n
const asScheduler = (team = 'demo') => serviceContext('scheduler', team)
const firings = (replica = 0) => system.replicas[replica]!.network.client(FiringService)
const json = (value: unknown) => Buffer.from(JSON.stringify(value))

/** What a schedule of this process, made anew, would fire. */
function firingOf(slug = 'hello', init: Firing = {}): Firing {
  const processId = system.catalog.put(slug)
  return { scheduleId: v7(), nominalTimeMs, processId, createdBy: 'its creator', ...init }
}

const fire = (firing: Firing, replica = 0, team = 'demo') => firings(replica).startFiring(firing, asScheduler(team))

test('each nominal time of a schedule starts one run, however often and wherever it is asked for', async () => {
  const runner = await system.runner({ slots: 8 })
  const firing = firingOf('often')
  const times = Array.from({ length: 12 }, (_, index) => nominalTimeMs + BigInt(index) * 1000n)
  const asked = await Promise.all(
    times.map((time) => Promise.all([0, 1, 0, 1].map((replica) => fire({ ...firing, nominalTimeMs: time }, replica)))),
  )
  const ids = asked.map((answers) => new Set(answers.map(({ executionId }) => executionId)))
  expect(ids.map(({ size }) => size)).toEqual(times.map(() => 1))
  const different = ids.flatMap((one) => [...one])
  expect(new Set(different).size).toBe(times.length)
  for (const id of different) expect((await system.ended(id)).status).toBe(Status.FINISHED)
  expect(runner.started.map(({ executionId }) => executionId).toSorted()).toEqual(different.toSorted())
  // The scheduler may have been away for days before it asks again.
  await system.rows("UPDATE start_keys SET expires_at = expires_at - interval '6 days'")
  expect((await fire(firing, 1)).executionId).toBe([...ids[0]!][0])
  expect((await fire({ ...firing, scheduleId: v7() })).executionId).not.toBe([...ids[0]!][0])
})

test('a run of a schedule has its id, its comment and its creator, at once or from the queue', async () => {
  const firing = firingOf('told', { comment: 'every night', initiatedBy: 'somebody', parameters: json({ a: 1 }) })
  const queued = await fire(firing)
  expect(queued.status).toBe(Status.CREATED)
  const runner = await system.runner({ slots: 2 })
  await system.ended(queued.executionId)
  const atOnce = await fire({ ...firing, nominalTimeMs: 1n })
  await system.ended(atOnce.executionId)
  for (const id of [queued.executionId, atOnce.executionId]) {
    const { scheduleId, comment } = firing
    expect(await system.get(id)).toMatchObject({
      scheduleId,
      comment,
      createdBy: 'its creator',
      origin: Origin.SCHEDULE,
      initiatedBy: 'somebody',
    })
    const run = runner.started.find(({ executionId }) => executionId === id)!
    expect(run).toMatchObject({ scheduleId, scheduleComment: comment, comment })
    expect(Buffer.from(run.parameters).toString()).toBe('{"a":1}')
  }
  const other = await system.run('demo', { comment: 'by hand' })
  const run = runner.started.find(({ executionId }) => executionId === other.executionId)!
  expect([run.comment, run.scheduleId, run.scheduleComment]).toEqual(['by hand', undefined, undefined])
})

describe('what a run can not be started with makes a REJECTED execution that says why', () => {
  const strict = { enforcedSchema: '{"required":["name"]}' }
  const cases: [name: string, firing: Firing, explanation: string][] = [
    ['a schema', { parameters: json({ other: 1 }) }, 'The parameters do not match the schema of the process'],
    ['a pool', { settings: { agentPool: 'gone' } }, 'There is no agent pool "gone"; there are default'],
    ['a timeout', { settings: { timeoutMs: 4_000_000_000 } }, 'The timeout must be from 100 to'],
    ['a callback', { settings: { callbackUrl: 'http://10.0.0.1/' } }, 'names "10.0.0.1", a private address'],
    ['parameters', { parameters: json({ name: 'x'.repeat(2000) }) }, 'The parameters are larger than 2000 bytes'],
    ['no object', { parameters: json([]) }, 'The parameters must be a JSON object'],
    ['a comment', { comment: 'x'.repeat(10_001) }, 'The comment must have at most 10000 characters'],
  ]
  test.each(cases)('%s', async (name, init, explanation) => {
    const slug = `refuses ${name}`
    const firing = { parameters: json({ name: 'x' }), ...firingOf(slug), ...init }
    system.catalog.put(slug, strict)
    const answers = await Promise.all([0, 1, 0].map((replica) => fire(firing, replica)))
    const [{ executionId, status }] = answers as [(typeof answers)[0]]
    expect(status).toBe(Status.REJECTED)
    expect(answers).toEqual(answers.map(() => answers[0]))
    const execution = await system.get(executionId)
    expect(execution).toMatchObject({
      status: Status.REJECTED,
      scheduleId: firing.scheduleId,
      createdBy: 'its creator',
    })
    expect(execution.timeline.map((event) => event.status)).toEqual([Status.CREATED, Status.REJECTED])
    expect(execution.timeline[1]!.explanation).toContain(explanation)
    const found = await system.executions.listExecutions({ keywords: slug }, userContext('demo'))
    expect(found.executions.map(({ id }) => id)).toEqual([executionId])
    // What was refused stays so when its reason is gone.
    system.catalog.put(slug)
    expect(await fire({ ...firing, ...firingOf(slug), scheduleId: firing.scheduleId! })).toMatchObject({
      executionId,
      status,
    })
  })
})

test('a firing that finds the queue full is REJECTED, and stays so', async () => {
  const firing = firingOf('many')
  const times = Array.from({ length: 31 }, (_, index) => BigInt(index))
  for (const time of times) await fire({ ...firing, nominalTimeMs: time }, 0, 'crowded')
  const last = await fire({ ...firing, nominalTimeMs: 30n }, 1, 'crowded')
  expect(last.status).toBe(Status.REJECTED)
  expect((await system.get(last.executionId, 'crowded')).timeline.at(-1)!.explanation).toContain('the most it may have')
  const { processId } = firing
  await system.executions.deleteProcessExecutions({ team: 'crowded', processId: processId! }, serviceContext('catalog'))
})

test('the version that the tag names is told, and a missing one makes a REJECTED execution that says so', async () => {
  await system.runner()
  const processId = system.catalog.put('versioned')
  const versionId = v7()
  system.catalog.put('versioned', { processId, versionId }, 'v1')
  const firing = { ...firingOf(), processId, tag: 'v1' }
  const answer = await fire(firing)
  expect(answer.versionId).toBe(versionId)
  const without = { ...firing, scheduleId: v7(), tag: 'v2', comment: 'nightly', parameters: json({ a: 1 }) }
  const refused = await fire(without)
  const { executionId, explanation } = refused
  expect(refused).toMatchObject({
    status: Status.REJECTED,
    explanation: expect.stringContaining('no version or alias'),
  })
  expect(refused.versionId).toBeUndefined()
  expect(await fire(without, 1)).toEqual(refused)
  const rejected = await system.get(executionId)
  expect(rejected).toMatchObject({ scheduleId: without.scheduleId, processId, comment: 'nightly' })
  expect(rejected.versionId).toBeUndefined()
  expect(rejected.timeline.at(-1)!.explanation).toBe(explanation)
  expect((await fire({ ...without, nominalTimeMs: 2n })).executionId).not.toBe(executionId)
  await expect(fire({ ...firing, scheduleId: v7(), processId: v7() })).rejects.toMatchObject({
    code: 'process_not_found',
  })
  // What has been started is known for good.
  system.catalog.remove('versioned')
  expect(await fire(firing, 1)).toEqual(answer)
})

test('a firing waits for packages that are being installed, as other runs do', async () => {
  const runner = await system.runner()
  const firing = firingOf('needy')
  system.catalog.put('needy', { awaitedDependencies: 'lodash' })
  const { executionId } = await fire(firing)
  expect((await system.get(executionId)).status).toBe(Status.CREATED)
  expect(runner.started).toEqual([])
  system.catalog.put('needy')
  expect(await system.ended(executionId)).toMatchObject({ status: Status.FINISHED, scheduleId: firing.scheduleId })
  expect(runner.started[0]!.scheduleId).toBe(firing.scheduleId)
})

test('of a team, the active ones are those that have not ended', async () => {
  const runner = await system.runner({ runs: () => undefined })
  const [one, other] = [await fire(firingOf()), await fire(firingOf())]
  const foreign = await fire(firingOf(), 0, 'rival')
  await until(() => runner.started.length === 3)
  const asked = [one, other, foreign].map(({ executionId }) => executionId)
  const active = (ids = asked) => firings(1).listActive({ executionIds: ids }, asScheduler())
  expect((await active([...asked, v7(), 'no id'])).executionIds.toSorted()).toEqual(asked.slice(0, 2).toSorted())
  runner.finish(asked[0]!)
  await system.ended(asked[0]!)
  expect((await active()).executionIds).toEqual([asked[1]])
  await expect(active(Array.from({ length: 1001 }, () => v7()))).rejects.toMatchObject({
    fields: [{ path: '/executionIds' }],
  })
  await system.executions.killExecution({ id: asked[1]! }, userContext('demo'))
  expect((await active()).executionIds).toEqual([])
  runner.finish(asked[2]!)
  await system.ended(asked[2]!, 'rival')
})

test('what a schedule is to run is checked, all but a schema, and named', async () => {
  const processId = system.catalog.put('checked', { timeZone: 'Europe/Berlin', enforcedSchema: '{"required":["a"]}' })
  system.catalog.put('checked', { processId, versionId: processId }, 'live')
  const check = (init: object) => firings().checkFiring({ identifier: 'checked', ...init }, asScheduler())
  const current = await check({ parameters: json({}) })
  expect(current).toMatchObject({ processId, processName: 'checked', zoneId: 'Europe/Berlin' })
  expect(current.versionId).toBeUndefined()
  const { revision, versionId } = await check({ tag: 'live' })
  expect(versionId).toBe(processId)
  expect(revision).toBeGreaterThan(0n)
  const refusals: [object, string][] = [
    [{ identifier: 'nowhere' }, 'process_not_found'],
    [{ tag: 'v9' }, 'version_not_found'],
    [{ settings: { agentPool: 'gone' } }, '/settings/agentPoolSlug'],
    [{ settings: { timeoutMs: 1 } }, '/settings/timeout'],
    [{ settings: { callbackUrl: 'http://127.0.0.1/' } }, '/settings/callbackUrl'],
    [{ comment: 'x'.repeat(10_001) }, '/comment'],
    [{ parameters: json(1) }, '/parameters'],
    [{ parameters: json({ long: 'x'.repeat(2000) }) }, 'parameters_too_large'],
  ]
  for (const [init, expected] of refusals) {
    const failure = (await check(init).catch((error: unknown) => error)) as { code: string; fields: { path: string }[] }
    expect(failure.fields[0]?.path ?? failure.code).toBe(expected)
  }
  expect(await system.rows('SELECT 1 FROM executions WHERE process_id = $1', [processId])).toEqual([])
})

test('nothing fires for a deleted process, and its runs are not active', async () => {
  const runner = await system.runner({ runs: () => undefined })
  const firing = firingOf('doomed')
  const { executionId } = await fire(firing)
  await runner.run(executionId)
  const { processId } = firing
  await system.executions.deleteProcessExecutions({ team: 'demo', processId: processId! }, serviceContext('catalog'))
  const active = await firings().listActive({ executionIds: [executionId] }, asScheduler())
  expect(active.executionIds).toEqual([])
  const later = { ...firing, nominalTimeMs: 5n }
  await expect(fire(later)).rejects.toMatchObject({ code: 'process_not_found' })
  // A refused one leaves nothing either.
  await expect(fire({ ...later, settings: { agentPool: 'gone' } })).rejects.toMatchObject({ code: 'process_not_found' })
  expect(
    await system.rows("SELECT 1 FROM start_keys WHERE key = '5' AND scope LIKE $1", [`%${firing.scheduleId}`]),
  ).toEqual([])
})

test('the run of a schedule that is run again belongs to no schedule', async () => {
  const runner = await system.runner()
  const { executionId } = await fire(firingOf('again', { comment: 'nightly' }))
  await system.ended(executionId)
  const again = await system.executions.rerunExecution({ id: executionId }, userContext('demo'))
  const execution = await system.ended(again.executionId)
  expect(execution).toMatchObject({ comment: 'nightly', createdBy: 'tester' })
  expect(execution.scheduleId).toBeUndefined()
  expect(runner.started.at(-1)!.scheduleId).toBeUndefined()
})

test('only services fire, for a team, and for a schedule that has an id', async () => {
  const [firing, user] = [firingOf(), userContext('demo')]
  const { startFiring, giveUpFiring, checkFiring, listActive } = firings()
  const calls = [startFiring(firing, user), giveUpFiring(firing, user), checkFiring({ identifier: 'hello' }, user)]
  const denied = [...calls, listActive({}, user), fire(firing, 0, '')]
  await Promise.all(denied.map((call) => expect(call).rejects.toMatchObject({ kind: 'permission_denied' })))
  await expect(fire({ ...firing, scheduleId: 'none' })).rejects.toMatchObject({ fields: [{ path: '/scheduleId' }] })
})
