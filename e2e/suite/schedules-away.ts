import { expect, test } from 'vitest'
import type { Execution, Page, Process, Schedule } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import type { RestartedSystem } from './restarted-system.ts'
import { makeProcess } from './runs.ts'
import { awaitEnded, everySecond, inMs, makeSchedule } from './scheduling.ts'

/** How long nobody is there, at least: several times of a schedule that fires each second, and those of `dateTime`. */
const awayMs = 4000

/** Schedules of a system that goes away and comes back. */
export interface SchedulesAway {
  /** Makes one that fires each second, and waits for a run of it. */
  begin(): Promise<void>
  /** Makes those whose one time comes once the system is away, as it must be right behind. */
  leave(): Promise<void>
  /** Waits until these times have passed; nobody is there. */
  pass(): Promise<void>
  /** The system is there again. */
  back(): void
  /** The tests of what they have done. */
  tests(): void
}

export function schedulesAway(restarted: RestartedSystem): SchedulesAway {
  let once: Schedule
  let cron: Schedule
  let paused: Schedule
  let deleted: Schedule
  /** Between them nobody was there at all. */
  let endedMs: number
  let beganMs: number
  let backMs: number
  let processes: Process[]
  const own = () => makeProcess({ sourceCode: 'return 1' }, restarted.running())

  return {
    begin: async () => {
      cron = await makeSchedule(await own(), { cron: everySecond }, restarted.running())
      processes = [await own(), await own(), await own()]
      await awaitEnded(cron, 1, restarted.running())
    },
    leave: async () => {
      const by = restarted.running()
      const dateTime = inMs(awayMs - 500)
      const made = await Promise.all(processes.map((each) => makeSchedule(each, { dateTime }, by)))
      ;[once, paused, deleted] = made as [Schedule, Schedule, Schedule]
      await Promise.all([by.put(`/schedules/${paused.id}/pause`), by.delete(`/schedules/${deleted.id}`)])
    },
    pass: async () => {
      endedMs = Date.now()
      const isOver = () => Date.now() > Date.parse(once.dateTime!) + 500
      await waitUntil('the times to have passed', isOver, { timeoutMs: 60_000 })
      beganMs = Date.now()
    },
    back: () => {
      backMs = Date.now()
    },
    tests: () => {
      test('a schedule with one time that was missed runs as soon as the system is back, once', async () => {
        const by = restarted.running()
        const [execution] = await awaitEnded(once, 1, by)
        expect(execution).toMatchObject({ status: 'FINISHED', scheduledId: once.id })
        expect(Date.parse(execution?.createdAt ?? '')).toBeGreaterThan(Date.parse(once.dateTime ?? ''))
        expect((await by.get<Schedule>(`/schedules/${once.id}`)).body).not.toHaveProperty('nextExecutionAt')
      })

      test('a cron makes up for one of the times that it missed at most, and goes on', async () => {
        const by = restarted.running()
        const started = async (fromMs: number, toMs = Infinity) => {
          const path = `/schedules/${cron.id}/firings`
          const { body } = await by.get<Page<{ nominalAt: string; state: string }>>(path, { limit: 1000 })
          const begun = body.data.filter(({ state }) => state === 'started')
          const times = begun.map(({ nominalAt }) => Date.parse(nominalAt))
          return times.filter((time) => time > fromMs && time < toMs)
        }
        const goesOn = async () => (await started(backMs)).length >= 2
        await waitUntil('two times after it', goesOn, { timeoutMs: 30_000, everyMs: 100 })
        expect((await started(endedMs, beganMs)).length).toBeLessThanOrEqual(1)
        await by.delete(`/schedules/${cron.id}`)
      })

      test('a schedule that was paused or deleted before starts nothing', async () => {
        const by = restarted.running()
        const started = async ({ processId }: Schedule) =>
          (await by.get<Page<Execution>>('/executions', { processId })).body.data.length
        expect([await started(once), await started(paused), await started(deleted)]).toEqual([1, 0, 0])
      })
    },
  }
}
