import { refusal, serviceContext, until, userContext } from '@automation/testing'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SchedulerUnderTest } from './scheduler-under-test.ts'

let system: SchedulerUnderTest
let team: string
let processId: string
let slug: string
let count = 0

beforeAll(async () => {
  system = await SchedulerUnderTest.open()
})
afterAll(() => system.close())
beforeEach(() => {
  team = `team-${(count += 1)}`
  slug = `report-${count}`
  processId = system.executions.process(slug)
  system.executions.zoneId = 'UTC'
  system.executions.revision = 1n
})

const daily = '30 9 * * *'
const me = () => userContext(team)
const create = (init: Parameters<typeof system.schedules.createSchedule>[0] = { cron: daily }) =>
  system.schedules.createSchedule({ process: slug, ...init }, me())
const update = (init: Parameters<typeof system.schedules.updateSchedule>[0]) =>
  system.schedules.updateSchedule(init, me())
const inMs = (ms: number) => ({ text: new Date(Date.now() + ms).toISOString() })
const nextOf = async (id: string) => {
  const { nextExecutionAt } = await system.get(id, team)
  return nextExecutionAt && timestampDate(nextExecutionAt)
}

test('a schedule is as it was made, with when it is due next', async () => {
  const input = { tag: 'live', parameters: Buffer.from('{"a":1}'), comment: 'nightly', settings: { agentPool: 'big' } }
  const made = await create({ cron: daily, allowConcurrentExecutions: true, input })
  expect(made).toMatchObject({
    processId,
    when: { case: 'cron', value: daily },
    allowConcurrentExecutions: true,
    input,
    paused: false,
    createdBy: 'tester',
  })
  expect(made.updatedAt).toBeUndefined()
  expect(await system.get(made.id, team)).toEqual(made)
  const next = timestampDate(made.nextExecutionAt!)
  expect(next.toISOString().slice(11)).toBe('09:30:00.000Z')
  expect(next.getTime() - Date.now()).toBeLessThanOrEqual(86_400_000)
})

test('a cron or a time is needed, and not both; what never comes is refused', async () => {
  expect(await refusal(create({}))).toBe('/cron')
  expect(await refusal(create({ cron: daily, dateTime: inMs(1000) }))).toBe('/dateTime')
  expect(await refusal(create({ cron: 'now' }))).toBe('/cron')
  expect(await refusal(create({ cron: '0 0 30 2 *' }))).toBe('/cron')
  expect(await refusal(create({ dateTime: inMs(-1000) }))).toBe('/dateTime')
  for (const text of [
    '',
    'tomorrow',
    '2030-13-01T00:00:00Z',
    '2030-01-01T25:00',
    '2030-01-01T00:00:00+99:00',
    '12026-01-01',
  ])
    expect(await refusal(create({ dateTime: { text } })), text).toBe('/dateTime')
})

test('what can not be run is refused as execution refuses it', async () => {
  expect(await refusal(create({ process: 'nothing', cron: daily }))).toBe('process_not_found')
  expect(await refusal(create({ cron: daily, input: { tag: 'gone' } }))).toBe('version_not_found')
})

test("a time without an offset is one of the team's zone", async () => {
  system.executions.zoneId = 'Asia/Tokyo'
  const timeOf = async (text: string) => (await nextOf((await create({ dateTime: { text } })).id))?.toISOString()
  expect(await timeOf('2030-06-01T09:00:00')).toBe('2030-06-01T00:00:00.000Z')
  expect(await timeOf('2030-06-01 09:00')).toBe('2030-06-01T00:00:00.000Z')
  expect(await timeOf('2030-06-01')).toBe('2030-05-31T15:00:00.000Z')
  expect(await timeOf('2030-06-01T09:00:00.250+02:00')).toBe('2030-06-01T07:00:00.250Z')
  expect(await timeOf('2030-06-01T09:00:00Z')).toBe('2030-06-01T09:00:00.000Z')
})

test('a change changes what it names, and nothing else', async () => {
  const input = {
    tag: 'live',
    parameters: Buffer.from('{"a":1}'),
    comment: 'nightly',
    settings: { agentPool: 'big', timeoutMs: 500 },
  }
  const { id } = await create({ cron: daily, input })
  const changed = await update({
    id,
    mask: { paths: ['input.comment', 'input.settings.timeout_ms'] },
    input: { comment: 'daily' },
  })
  expect(changed.input!.settings!.timeoutMs).toBeUndefined()
  expect(changed.input).toMatchObject({
    ...input,
    comment: 'daily',
    settings: { agentPool: 'big' },
  })
  expect(changed).toMatchObject({ when: { case: 'cron', value: daily }, updatedBy: 'tester' })
  expect(changed.updatedAt).toBeDefined()
  expect(
    (await update({ id, mask: { paths: ['allow_concurrent_executions'] }, allowConcurrentExecutions: true }))
      .allowConcurrentExecutions,
  ).toBe(true)
  expect(await refusal(update({ id, mask: { paths: ['input.tag'] }, input: { tag: 'gone' } }))).toBe(
    'version_not_found',
  )
  expect((await system.get(id, team)).input!.tag).toBe('live')
})

test('what happens again and again becomes what happens once, and the other way round', async () => {
  const { id } = await create()
  const time = inMs(3_600_000)
  expect((await update({ id, mask: { paths: ['date_time'] }, dateTime: time })).when.case).toBe('dateTime')
  expect((await nextOf(id))!.toISOString()).toBe(time.text)
  expect(await refusal(update({ id, mask: { paths: ['date_time'] }, dateTime: inMs(-1000) }))).toBe('/dateTime')
  expect((await update({ id, mask: { paths: ['cron'] }, cron: '0 8 * * *' })).when).toEqual({
    case: 'cron',
    value: '0 8 * * *',
  })
  expect((await nextOf(id))!.toISOString().slice(11)).toBe('08:00:00.000Z')
  const both = { id, mask: { paths: ['cron', 'date_time'] }, cron: daily, dateTime: time }
  expect(await refusal(update(both))).toBe('/dateTime')
})

test('what has happened once happens again only when a new time is given', async () => {
  const { id } = await create({ dateTime: inMs(200) })
  await until(() => system.executions.of(id).length === 1)
  await update({ id, mask: { paths: ['input.comment'] }, input: { comment: 'x' } })
  expect(await nextOf(id)).toBeUndefined()
  await update({ id, mask: { paths: ['date_time'] }, dateTime: inMs(200) })
  await until(() => system.executions.of(id).length === 2)
})

test('pausing what is paused and resuming what is not are refused; a paused one has no next time', async () => {
  const { id } = await create()
  expect(await refusal(system.schedules.resumeSchedule({ id }, me()))).toBe('schedule_active')
  await system.schedules.pauseSchedule({ id }, me())
  expect(await system.get(id, team)).toMatchObject({ paused: true, updatedBy: 'tester' })
  expect(await nextOf(id)).toBeUndefined()
  expect(await refusal(system.schedules.pauseSchedule({ id }, me()))).toBe('schedule_paused')
  await update({ id, mask: { paths: ['cron'] }, cron: '0 8 * * *' })
  expect(await nextOf(id)).toBeUndefined()
  await system.schedules.resumeSchedule({ id }, me())
  expect((await nextOf(id))!.toISOString().slice(11)).toBe('08:00:00.000Z')
})

test('a pause or resumption that is repeated with the tag of before learns that it is done', async () => {
  const { id, etag } = await create()
  const { etag: paused } = await system.schedules.pauseSchedule({ id, ifMatch: [etag] }, me())
  expect(await refusal(system.schedules.pauseSchedule({ id, ifMatch: [etag] }, me()))).toBe('schedule_paused')
  expect(await refusal(system.schedules.resumeSchedule({ id, ifMatch: [etag] }, me()))).toBe('changed_meanwhile')
  await system.schedules.resumeSchedule({ id, ifMatch: [paused] }, me())
  expect(await refusal(system.schedules.resumeSchedule({ id, ifMatch: [paused] }, me()))).toBe('schedule_active')
})

test('one that is made paused is checked as any, has no next time, and is resumed as one that was paused later', async () => {
  expect(await refusal(create({ cron: '0 0 30 2 *', paused: true }))).toBe('/cron')
  expect(await refusal(create({ dateTime: inMs(-1000), paused: true }))).toBe('/dateTime')
  const { id, ...made } = await create({ cron: daily, paused: true })
  expect([made.paused, made.nextExecutionAt, made.updatedAt]).toEqual([true, undefined, undefined])
  await system.schedules.resumeSchedule({ id }, me())
  expect((await nextOf(id))!.toISOString().slice(11)).toBe('09:30:00.000Z')
})

test('a change may pause and resume; one that is so already stays so, and keeps its next time', async () => {
  const made = await create()
  const { id } = made
  const turn = (paused: boolean, rest: { cron?: string; ifMatch?: string[] } = {}) =>
    update({ id, paused, ...rest, mask: { paths: ['paused', ...(rest.cron ? ['cron'] : [])] } })
  expect(await turn(false)).toMatchObject({ paused: false, nextExecutionAt: made.nextExecutionAt })
  for (let twice = 0; twice < 2; twice += 1) {
    const { paused, nextExecutionAt } = await turn(true, { cron: '0 8 * * *' })
    expect([paused, nextExecutionAt]).toEqual([true, undefined])
  }
  expect(await refusal(system.schedules.pauseSchedule({ id }, me()))).toBe('schedule_paused')
  const { etag, ...resumed } = await turn(false)
  expect(timestampDate(resumed.nextExecutionAt!).toISOString().slice(11)).toBe('08:00:00.000Z')
  await turn(true, { ifMatch: [etag] })
  expect(await refusal(turn(false, { ifMatch: [etag] }))).toBe('changed_meanwhile')
})

test('what was to happen once, and was missed while it was paused, can not be resumed', async () => {
  const { id } = await create({ dateTime: inMs(400) })
  await system.schedules.pauseSchedule({ id }, me())
  await system.sql.query(`UPDATE schedules SET date_time = now() - interval '1 s' WHERE id = $1`, [id])
  expect(await refusal(system.schedules.resumeSchedule({ id }, me()))).toBe('/dateTime')
  expect(await refusal(update({ id, mask: { paths: ['paused'] }, paused: false }))).toBe('/dateTime')
  expect((await system.get(id, team)).paused).toBe(true)
  const mask = { paths: ['paused', 'date_time'] }
  expect((await update({ id, mask, dateTime: inMs(3_600_000) })).nextExecutionAt).toBeDefined()
})

test('nobody finds, changes, pauses or deletes what another team has', async () => {
  const { id } = await create()
  const otherTeam = userContext('other-team')
  for (const other of [id, v7(), 'no-id'])
    for (const call of [
      () => system.schedules.getSchedule({ id: other }, otherTeam),
      () => system.schedules.updateSchedule({ id: other, mask: { paths: [] } }, otherTeam),
      () => system.schedules.pauseSchedule({ id: other }, otherTeam),
      () => system.schedules.resumeSchedule({ id: other }, otherTeam),
      () => system.schedules.deleteSchedule({ id: other }, otherTeam),
    ])
      expect(await refusal(call())).toBe('schedule_not_found')
  expect((await system.schedules.listSchedules({}, otherTeam)).schedules).toEqual([])
  expect(await system.get(id, team)).toMatchObject({ id, paused: false })
})

test('lists are newest first, in pages, by process and by words of the process or the comment', async () => {
  const other = system.executions.process(`other-${count}`)
  const first = await create({ cron: daily, input: { comment: '50% of_it' } })
  const second = await create({ process: `other-${count}`, cron: daily })
  const third = await create()
  const ids = async (filter: { processId?: string; keywords?: string; page?: { page: number; limit: number } } = {}) =>
    (await system.schedules.listSchedules(filter, me())).schedules.map(({ id }) => id)
  expect(await ids()).toEqual([third.id, second.id, first.id])
  expect(await ids({ page: { page: 1, limit: 2 } })).toEqual([first.id])
  expect((await system.schedules.listSchedules({ page: { page: 0, limit: 2 } }, me())).page).toMatchObject({
    total: 3,
    hasNextPage: true,
  })
  expect(await ids({ processId: other })).toEqual([second.id])
  expect(await ids({ keywords: 'THE OTHER' })).toEqual([second.id])
  expect(await ids({ keywords: '0% OF_' })).toEqual([first.id])
  expect(await ids({ keywords: 'of%it' })).toEqual([])
})

test('a new zone moves what is due next, unless older news come late', async () => {
  const { id } = await create()
  const [once, paused] = [await create({ dateTime: inMs(3_600_000) }), await create()]
  await system.schedules.pauseSchedule({ id: paused.id }, me())
  const service = serviceContext('process-catalog', team)
  await system.effects.noteZone({ team, zoneId: 'Asia/Tokyo', revision: 5n }, service)
  expect((await nextOf(id))!.toISOString().slice(11)).toBe('00:30:00.000Z')
  expect(await nextOf(once.id)).toEqual(timestampDate(once.nextExecutionAt!))
  expect(await nextOf(paused.id)).toBeUndefined()
  await system.effects.noteZone({ team, zoneId: 'Europe/Paris', revision: 4n }, service)
  expect((await nextOf(id))!.toISOString().slice(11)).toBe('00:30:00.000Z')
  system.executions.zoneId = 'Asia/Tokyo'
  expect(
    timestampDate((await create()).nextExecutionAt!)
      .toISOString()
      .slice(11),
  ).toBe('00:30:00.000Z')
})

test('a renamed process is found by its new name', async () => {
  const { id } = await create()
  const note = (name: string, revision: bigint) =>
    system.effects.noteProcess({ team, processId, name, revision }, serviceContext('process-catalog', team))
  await note('Invoices', 3n)
  await note('Bills', 2n)
  const found = await system.schedules.listSchedules({ keywords: 'invoice' }, me())
  expect(found.schedules.map((one) => one.id)).toEqual([id])
})

test('the schedules of a deleted process are gone, and it gets no new ones', async () => {
  const { id } = await create()
  const service = serviceContext('process-catalog', team)
  await system.effects.deleteProcessSchedules({ team: 'other-team', processId }, service)
  expect(await system.get(id, team)).toMatchObject({ id })
  for (let twice = 0; twice < 2; twice += 1) await system.effects.deleteProcessSchedules({ team, processId }, service)
  expect(await refusal(system.get(id, team))).toBe('schedule_not_found')
  expect(await refusal(create())).toBe('process_not_found')
})

test('only services tell of zones and processes', async () => {
  expect(await refusal(system.effects.noteZone({ team, zoneId: 'UTC', revision: 9n }, me()))).toBe('permission_denied')
  expect(await refusal(system.effects.deleteProcessSchedules({ team, processId }, me()))).toBe('permission_denied')
})

test('of two edits of the same state exactly one is made; a firing is no edit', async () => {
  const made = await create()
  await system.sql.query(
    `UPDATE schedules SET next_at = next_at + interval '1 day', revision = revision + 1 WHERE id = $1`,
    [made.id],
  )
  expect((await system.get(made.id, team)).etag).toBe(made.etag)
  const ifMatch = [made.etag]
  const edits = [
    ...['30 8 * * *', '30 7 * * *'].map((cron) => update({ id: made.id, mask: { paths: ['cron'] }, cron, ifMatch })),
    system.schedules.pauseSchedule({ id: made.id, ifMatch }, me()),
  ]
  const results = await Promise.allSettled(edits)
  const winners = results.filter((each) => each.status === 'fulfilled')
  expect(winners).toHaveLength(1)
  expect(winners[0]?.value.etag).toBe((await system.get(made.id, team)).etag)
  expect(await refusal(system.schedules.deleteSchedule({ id: made.id, ifMatch }, me()))).toBe('changed_meanwhile')
})
