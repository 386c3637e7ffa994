import { beforeAll, describe, expect, test } from 'vitest'
import type { Execution, Page, Schedule } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { restartedSystem } from './restarted-system.ts'
import { makeProcess } from './runs.ts'
import { awaitEnded, everySecond, inMs, makeSchedule } from './scheduling.ts'
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
    /** Between them nobody was there at all. */
    let endedMs: number
    let beganMs: number
    let backMs: number

    beforeAll(async () => {
      cron = await make({ cron: everySecond })
      await awaitEnded(cron, 1, restarted.running())
      const dateTime = inMs(awayMs - 500)
      ;[once, paused, deleted] = [await make({ dateTime }), await make({ dateTime }), await make({ dateTime })]
      await restarted.running().put(`/schedules/${paused.id}/pause`)
      await restarted.running().delete(`/schedules/${deleted.id}`)
      await restarted.system[end]()
      endedMs = Date.now()
      const isOver = () => Date.now() > Date.parse(dateTime) + 500
      await waitUntil('the times to have passed', isOver, { timeoutMs: 60_000 })
      beganMs = Date.now()
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
      const started = async (fromMs: number, toMs = Infinity) => {
        const path = `/schedules/${cron.id}/firings`
        const { body } = await by.get<Page<{ nominalAt: string; state: string }>>(path, { limit: 1000 })
        const times = body.data.filter(({ state }) => state === 'started').map(({ nominalAt }) => Date.parse(nominalAt))
        return times.filter((time) => time > fromMs && time < toMs)
      }
      const goesOn = async () => (await started(backMs)).length >= 2
      await waitUntil('two times after it', goesOn, { timeoutMs: 30_000, everyMs: 100 })
      expect((await started(endedMs, beganMs)).length).toBeLessThanOrEqual(1)
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
