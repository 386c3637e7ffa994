import { beforeAll, describe, expect, test } from 'vitest'
import type { Execution, Page, Schedule } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { restartedSystem } from './restarted-system.ts'
import { makeProcess } from './runs.ts'
import { awaitEnded, everySecond, firedBy, inMs, makeSchedule } from './scheduling.ts'
import { shared } from './shared-system.ts'

/** How long nobody is there, at least: several times of a schedule that fires each second, and those of `dateTime`. */
const awayMs = 4000

/** One absence is examined by the tests of its block, which follow each other. */
describe.skipIf(!shared.owned)('schedules of a system that was away', { concurrent: false }, () => {
  const restarted = restartedSystem('schedules')
  const make = async (input: Record<string, unknown>) => {
    const process = await makeProcess({ sourceCode: 'return 1' }, restarted.running())
    return makeSchedule(process, input, restarted.running())
  }

  describe.each(['stop', 'kill'] as const)('%s', (end) => {
    let once: Schedule
    let cron: Schedule
    let paused: Schedule
    let deleted: Schedule
    let backMs: number

    beforeAll(async () => {
      cron = await make({ cron: everySecond })
      await awaitEnded(cron, 1, restarted.running())
      const dateTime = inMs(awayMs - 500)
      ;[once, paused, deleted] = [await make({ dateTime }), await make({ dateTime }), await make({ dateTime })]
      await restarted.running().put(`/schedules/${paused.id}/pause`)
      await restarted.running().delete(`/schedules/${deleted.id}`)
      await restarted.system[end]()
      const isOver = () => Date.now() > Date.parse(dateTime) + 500
      await waitUntil('the times to have passed', isOver, { timeoutMs: 60_000 })
      await restarted.start()
      backMs = Date.now()
    })

    test('one time that was missed runs as soon as it is back, once', async () => {
      const by = restarted.running()
      const [execution] = await awaitEnded(once, 1, by)
      expect(execution).toMatchObject({ status: 'FINISHED', scheduledId: once.id })
      expect(Date.parse(execution?.createdAt ?? '')).toBeGreaterThan(Date.parse(once.dateTime ?? ''))
      expect((await by.get<Schedule>(`/schedules/${once.id}`)).body).not.toHaveProperty('nextExecutionAt')
    })

    test('of the times that a cron missed it makes up for one at most, and goes on', async () => {
      const by = restarted.running()
      const isBefore = ({ createdAt }: Execution) => Date.parse(createdAt) < backMs - 1000
      const before = (await firedBy(cron, by)).filter(isBefore).length
      const since = (await awaitEnded(cron, before + 3, by)).slice(before)
      const seconds = (Date.parse(since.at(-1)?.createdAt ?? '') - backMs) / 1000
      expect(since.length).toBeLessThanOrEqual(Math.ceil(seconds) + 2)
      await by.delete(`/schedules/${cron.id}`)
    })

    test('one that was paused or deleted before starts nothing', async () => {
      const by = restarted.running()
      const started = async ({ processId }: Schedule) =>
        (await by.get<Page<Execution>>('/executions', { processId })).body.data.length
      expect([await started(once), await started(paused), await started(deleted)]).toEqual([1, 0, 0])
    })
  })
})
