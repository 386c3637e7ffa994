import { describe, expect, test } from 'vitest'
import type { Execution, Page, Schedule } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { restartedSystem } from './restarted-system.ts'
import { makeProcess } from './runs.ts'
import { awaitEnded, everySecond, firedBy, inMs, makeSchedule } from './scheduling.ts'
import { shared } from './shared-system.ts'

/** How many times a schedule comes that fires each second, while nobody is there. */
const awayMs = 4000

describe.skipIf(!shared.owned)('schedules of a system that was stopped', { concurrent: false }, () => {
  const restarted = restartedSystem('schedules')

  const stopUntil = async (timeMs: number, end: 'stop' | 'kill') => {
    await restarted.system[end]()
    await waitUntil('the time to have passed', () => Date.now() > timeMs, { timeoutMs: 60_000 })
    await restarted.start()
  }

  test.for(['stop', 'kill'] as const)('%s: one time that was missed runs as soon as it is back, once', async (end) => {
    const process = await makeProcess({ sourceCode: 'return 1' }, restarted.running())
    const schedule = await makeSchedule(process, { dateTime: inMs(3000) }, restarted.running())
    await stopUntil(Date.parse(schedule.dateTime ?? '') + 500, end)
    const by = restarted.running()
    const [execution] = await awaitEnded(schedule, 1, by)
    expect(execution).toMatchObject({ status: 'FINISHED', scheduledId: schedule.id })
    expect(Date.parse(execution?.createdAt ?? '')).toBeGreaterThan(Date.parse(schedule.dateTime ?? ''))
    expect(await firedBy(schedule, by)).toHaveLength(1)
    expect((await by.get<Schedule>(`/schedules/${schedule.id}`)).body).not.toHaveProperty('nextExecutionAt')
  })

  test('of the times that a cron missed it makes up for one at most, and goes on', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' }, restarted.running())
    const schedule = await makeSchedule(process, { cron: everySecond }, restarted.running())
    await awaitEnded(schedule, 1, restarted.running())
    await stopUntil(Date.now() + awayMs, 'stop')
    const backMs = Date.now()
    const by = restarted.running()
    const before = (await firedBy(schedule, by)).filter(({ createdAt }) => Date.parse(createdAt) < backMs - 1000).length
    const runs = await awaitEnded(schedule, before + 3, by)
    const since = runs.slice(before)
    const seconds = (Date.parse(since.at(-1)?.createdAt ?? '') - backMs) / 1000
    expect(since.length).toBeLessThanOrEqual(Math.ceil(seconds) + 2)
    await by.delete(`/schedules/${schedule.id}`)
  })

  test('one that was paused or deleted before starts nothing', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' }, restarted.running())
    const make = (ms: number) => makeSchedule(process, { dateTime: inMs(ms) }, restarted.running())
    const [paused, deleted, kept] = [await make(3000), await make(3000), await make(3200)]
    await restarted.running().put(`/schedules/${paused.id}/pause`)
    await restarted.running().delete(`/schedules/${deleted.id}`)
    await stopUntil(Date.parse(kept.dateTime ?? '') + 500, 'stop')
    const by = restarted.running()
    await awaitEnded(kept, 1, by)
    const { data } = (await by.get<Page<Execution>>('/executions', { processId: process.id })).body
    expect(data.map(({ scheduledId }) => scheduledId)).toEqual([kept.id])
  })
})
