import { ClockNote, FiringState, type Firing } from '@automation/contract/schedule/v1/schedule'
import { Failure } from '@automation/errors'
import { until, userContext } from '@automation/testing'
import { FaultProxy } from '@automation/testing/fault-proxy'
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SchedulerUnderTest, skipped, started } from './scheduler-under-test.ts'

let system: SchedulerUnderTest
let processId: string
let teams = 0

beforeAll(async () => {
  system = await SchedulerUnderTest.open()
  processId = system.executions.process('report')
})
afterAll(() => system.close())

const newTeam = () => userContext(`team${(teams += 1)}`)
const yearly = '0 0 1 1 *'
const at = (text: string) => timestampFromDate(new Date(text))
const timesOf = (firings: Firing[]) => firings.map(({ nominalAt }) => timestampDate(nominalAt!).toISOString())

async function make(context = newTeam(), init: object = {}) {
  const made = await system.schedules.createSchedule({ process: 'report', cron: yearly, ...init }, context)
  return { ...made, context }
}

describe('a preview', () => {
  const preview = async (init: object) => {
    const { times } = await system.schedules.previewTimes({ zoneId: 'Europe/Berlin', ...init }, newTeam())
    return times.map(({ local, note }) => [local, note])
  }
  const noteOf = async (cron: string, local: string) =>
    (await preview({ cron, count: 100 })).find(([time]) => time === local)?.[1]

  test('has the times that a schedule would have, as many as are asked for', async () => {
    const { context, nextExecutionAt } = await make()
    const { times } = await system.schedules.previewTimes({ cron: yearly, zoneId: 'UTC', count: 3 }, context)
    expect(times).toHaveLength(3)
    expect(times[0]).toMatchObject({ at: nextExecutionAt, note: ClockNote.UNSPECIFIED })
    expect(await preview({ cron: yearly })).toHaveLength(10)
    await expect(preview({ cron: yearly, count: 101 })).rejects.toMatchObject({ fields: [{ path: '/count' }] })
  })

  test('marks what the clocks leave out, and what they show twice', async () => {
    for (const leftOut of ['2050-03-27T02:00:00', '2050-03-27T02:30:00', '2050-03-27T02:59:59.999'])
      expect(await preview({ dateTime: { text: leftOut } })).toEqual([['2050-03-27T03:00:00', ClockNote.GAP]])
    expect(await preview({ dateTime: { text: '2050-10-30T02:30:00' } })).toEqual([
      ['2050-10-30T02:30:00', ClockNote.REPEATED],
    ])
    expect(await preview({ dateTime: { text: '2050-03-27T01:30:00Z' } })).toEqual([
      ['2050-03-27T03:30:00', ClockNote.UNSPECIFIED],
    ])
    expect(await noteOf('30 2 L 3,10 *', '2030-03-31T03:00:00')).toBe(ClockNote.GAP)
    expect(await noteOf('0 3 L 3,10 *', '2030-03-31T03:00:00')).toBe(ClockNote.UNSPECIFIED)
    const { times } = await system.schedules.previewTimes(
      { cron: '30 */1 27 10 *', zoneId: 'Europe/Berlin', count: 100 },
      newTeam(),
    )
    const twice = times.filter(({ local }) => local === '2030-10-27T02:30:00')
    expect(twice.map(({ note }) => note)).toEqual([ClockNote.REPEATED, ClockNote.REPEATED])
  })

  test('refuses what a schedule would, also a time that the clocks leave out each year', async () => {
    const never = { fields: [{ path: '/cron', message: 'The cron names no day that ever comes' }] }
    await expect(preview({ cron: '0 0 30 2 *' })).rejects.toMatchObject(never)
    await expect(preview({ cron: '0 2-2/1 * 3 SUNL' })).rejects.toMatchObject(never)
    await expect(preview({ cron: '61 * * * *' })).rejects.toMatchObject({ fields: [{ path: '/cron' }] })
    await expect(preview({ dateTime: { text: '2001-01-01' } })).rejects.toMatchObject({
      fields: [{ path: '/dateTime' }],
    })
    await expect(preview({ cron: yearly, dateTime: { text: '2050-01-01' } })).rejects.toMatchObject({
      fields: [{ path: '/dateTime', message: 'may not be given together with a cron' }],
    })
    await expect(preview({})).rejects.toMatchObject({ fields: [{ path: '/cron' }] })
    for (const zoneId of ['Mars/Olympus', '+01:00', '', 'SystemV/EST5'])
      await expect(preview({ cron: yearly, zoneId })).rejects.toMatchObject({ fields: [{ path: '/zoneId' }] })
  })
})

describe('a run by hand', () => {
  test('gets what a firing would, is noted, and holds up the firings behind it', async () => {
    const parameters = Buffer.from('{"a":1}')
    const { id, context } = await make(undefined, { input: { tag: 'live', parameters, comment: 'nightly' } })
    system.executions.runsGoOn = true
    const { executionId } = await system.schedules.runSchedule({ id }, context)
    const [run] = system.executions.of(id)
    expect(run).toMatchObject({ id: executionId, request: { tag: 'live', parameters, comment: 'nightly', processId } })
    expect(await system.firings(id)).toMatchObject([{ state: started, executionId }])
    await expect(system.schedules.runSchedule({ id }, context)).rejects.toMatchObject({ code: 'run_active' })
    system.executions.active.clear()
    system.executions.runsGoOn = false
    const again = await system.schedules.runSchedule({ id }, context)
    expect(again.executionId).not.toBe(executionId)
    const { firings, page } = await system.schedules.listFirings({ id }, context)
    expect(firings.map(({ executionId: of }) => of)).toEqual([again.executionId, executionId])
    expect(page).toMatchObject({ total: 2 })
  })

  test('has no reason while it is under way', async () => {
    const { id, context } = await make()
    const start = system.executions.holdStarts()
    const run = system.schedules.runSchedule({ id }, context)
    const shown = async () => {
      const { firings } = await system.schedules.listFirings({ id }, context)
      return firings.map(({ state, reason }) => [state, reason])
    }
    try {
      await until(async () => (await shown()).length === 1)
      expect(await shown()).toEqual([[FiringState.WAITING, undefined]])
    } finally {
      start.release()
    }
    await run
    expect(await shown()).toEqual([[FiringState.STARTED, undefined]])
  })

  test('is refused while a time is due that has no firing yet, which would not wait for it', async () => {
    const { id, context } = await make()
    await system.sql.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not yet'; END $$`,
    )
    await system.sql.query(
      `CREATE TRIGGER refuse BEFORE INSERT ON firings FOR EACH ROW WHEN (NOT NEW.given_up) EXECUTE FUNCTION refuse()`,
    )
    await system.missedFor(id, 1000)
    await expect(system.schedules.runSchedule({ id }, context)).rejects.toMatchObject({ code: 'run_active' })
    await system.sql.query('DROP FUNCTION refuse CASCADE')
    await until(() => system.executions.of(id).length === 1)
    await until(async () => (await system.firings(id))[0]?.state === started)
    await system.schedules.runSchedule({ id }, context)
    expect(system.executions.of(id)).toHaveLength(2)
  })

  test('that was answered with an error starts nothing any more', async () => {
    const { id, context } = await make()
    system.executions.failure = new Failure('unavailable', 'unavailable', 'Execution is away')
    await expect(system.schedules.runSchedule({ id }, context)).rejects.toMatchObject({ code: 'unavailable' })
    system.executions.failure = undefined
    await until(async () => (await system.firings(id))[0]?.state === skipped)
    expect((await system.schedules.listFirings({ id }, context)).firings).toMatchObject([
      { state: FiringState.SKIPPED, reason: 'Execution is away' },
    ])
    expect(system.executions.of(id)).toEqual([])
    await system.schedules.runSchedule({ id }, context)
    expect(system.executions.of(id)).toHaveLength(1)
  })

  test('whose beginning was stored, but nobody heard of it, starts nothing any more', async () => {
    const proxy = await FaultProxy.start(system.database.url)
    const cut = await system.replica(undefined, { DATABASE_URL: proxy.url })
    const { id, context } = await make()
    let isMade = false
    proxy.loseAnswerTo((sent) => (isMade ||= sent.includes('insert_by_hand')) && sent.includes('COMMIT'))
    await expect(cut.schedules.runSchedule({ id }, context)).rejects.toMatchObject({ code: 'unavailable' })
    await system.sql.query('UPDATE firings SET due_at = now() WHERE schedule_id = $1', [id])
    await until(async () => (await system.firings(id))[0]?.state === skipped)
    expect(system.executions.of(id)).toEqual([])
    await proxy.close()
  })

  test('is possible while a schedule is paused, many at once where they may be, and not for another team', async () => {
    const { id, context } = await make(undefined, { allowConcurrentExecutions: true })
    await system.schedules.pauseSchedule({ id }, context)
    const runs = await Promise.all(Array.from({ length: 5 }, () => system.schedules.runSchedule({ id }, context)))
    expect(new Set(runs.map(({ executionId }) => executionId)).size).toBe(5)
    const { id: alone } = await make(context)
    system.executions.runsGoOn = true
    const tries = Array.from({ length: 5 }, () => system.schedules.runSchedule({ id: alone }, context))
    const ends = await Promise.allSettled(tries)
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(system.executions.of(alone)).toHaveLength(1)
    system.executions.runsGoOn = false
    for (const call of [system.schedules.runSchedule, system.schedules.listFirings])
      await expect(call({ id }, newTeam())).rejects.toMatchObject({ code: 'schedule_not_found' })
  })
})

describe('a calendar', () => {
  test('has what came and what comes, in the order of their times, with the slugs of processes', async () => {
    const { id, context } = await make()
    const other = await make(context, { cron: undefined, dateTime: { text: '2028-06-01T00:00:00Z' } })
    const paused = await make(context)
    await system.schedules.pauseSchedule({ id: paused.id }, context)
    await system.sql.query(
      `INSERT INTO firings (schedule_id, nominal_at, state, explanation, decided_at)
       VALUES ($1, '2020-01-01', 4, 'It was missed for too long', now())`,
      [id],
    )
    const span = { from: at('2020-01-01T00:00:00Z'), to: at('2029-01-01T00:00:00Z') }
    const { firings } = await system.schedules.listFiringsBetween(span, context)
    const times = timesOf(firings)
    expect(times).toEqual(times.toSorted())
    expect(firings[0]).toMatchObject({
      scheduleId: id,
      state: FiringState.SKIPPED,
      reason: 'It was missed for too long',
    })
    expect(firings.filter(({ scheduleId }) => scheduleId === other.id)).toMatchObject([{ state: FiringState.COMING }])
    expect(firings.some(({ scheduleId }) => scheduleId === paused.id)).toBe(false)
    expect(firings.every(({ processSlug }) => processSlug === `slug-${processId}`)).toBe(true)
    const timesBetween = async (from: string, to: string) =>
      timesOf((await system.schedules.listFiringsBetween({ from: at(from), to: at(to) }, context)).firings)
    const newYear = '2050-01-01T00:00:00.000Z'
    expect(await timesBetween(newYear, '2050-01-01T00:00:01Z')).toEqual([newYear])
    expect(await timesBetween('2049-12-31T00:00:00Z', newYear)).toEqual([newYear])
    for (const only of ['2020-01-01T00:00:00.000Z', '2028-06-01T00:00:00.000Z', newYear])
      expect(await timesBetween(only, only)).toEqual([only])
    expect((await system.schedules.listFiringsBetween(span, newTeam())).firings).toEqual([])
    const backwards = system.schedules.listFiringsBetween({ from: span.to, to: span.from }, context)
    const long = { from: span.from, to: at('2031-01-01T00:00:00Z') }
    await expect(system.schedules.listFiringsBetween(long, context)).rejects.toMatchObject({
      fields: [{ path: '/to' }],
    })
    await expect(backwards).rejects.toMatchObject({ fields: [{ path: '/to' }] })
  })

  test('of ten thousand schedules that come each second is refused before they are counted', async () => {
    const { id, context } = await make(undefined, { cron: '* * * * * *' })
    await system.sql.query(`UPDATE schedules SET next_at = '2090-01-01' WHERE id = $1`, [id])
    await system.copies(id, 9999)
    const year = { from: at('2090-01-01T00:00:00Z'), to: at('2091-01-01T00:00:00Z') }
    const refused = system.schedules.listFiringsBetween(year, context)
    await expect(refused).rejects.toMatchObject({
      code: 'too_many_firings',
      message: expect.stringContaining('narrow'),
    })
  })
})

test('the next firing of each of several processes is that of its schedule that is due first', async () => {
  const other = system.executions.process('other')
  const { context, nextExecutionAt } = await make()
  const soon = await make(context, {
    cron: undefined,
    dateTime: { text: new Date(Date.now() + 3_600_000).toISOString() },
  })
  const paused = await make(context, { process: 'other' })
  const next = async (processIds: string[], by = context) =>
    (await system.schedules.listNextFirings({ processIds }, by)).firings
  const times = [nextExecutionAt!, soon.nextExecutionAt!].map(timestampDate)
  const first = timestampFromDate(new Date(Math.min(...times.map(Number))))
  const ids = [processId, other, processId, 'x']
  expect((await next(ids)).map((one) => one.processId).toSorted()).toEqual([processId, other].toSorted())
  await system.schedules.pauseSchedule({ id: paused.id }, context)
  expect(await next(ids)).toMatchObject([{ processId, at: first }])
  expect(await next([])).toEqual([])
  expect(await next(ids, newTeam())).toEqual([])
  await expect(next(Array<string>(1001).fill(other))).rejects.toMatchObject({ fields: [{ path: '/processIds' }] })
})

test('a schedule shows what its tag names now, in lists by one call, and what it last named while nobody can tell', async () => {
  const versionId = '01890000-0000-7000-8000-0000000000aa'
  const { id, context } = await make(undefined, { input: { tag: 'moving' } })
  await make(context, { input: { tag: 'unknown' } })
  await make(context)
  const shown = async () => {
    const { schedules } = await system.schedules.listSchedules({}, context)
    return schedules.map((schedule) => [schedule.input?.tag, schedule.versionId])
  }
  system.references.versions.set('moving', versionId)
  const before = system.references.asked
  expect(await shown()).toEqual([
    ['', undefined],
    ['unknown', undefined],
    ['moving', versionId],
  ])
  expect(system.references.asked).toBe(before + 1)
  expect((await system.schedules.getSchedule({ id }, context)).versionId).toBe(versionId)
  system.references.isAway = true
  expect((await system.schedules.getSchedule({ id }, context)).versionId).toBeUndefined()
  system.references.isAway = false
})
