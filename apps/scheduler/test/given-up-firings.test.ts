import { until } from '@automation/testing'
import { expect } from 'vitest'
import {
  demo,
  everySecond,
  schedulerTest,
  soon,
  started,
  skipped,
  waiting,
  type SchedulerUnderTest,
} from './scheduler-under-test.ts'

schedulerTest.concurrent.for([
  ['a call', (schedules, id) => schedules.pauseSchedule({ id }, demo)],
  ['a change', (schedules, id) => schedules.updateSchedule({ id, paused: true, mask: { paths: ['paused'] } }, demo)],
] satisfies [string, (schedules: SchedulerUnderTest['schedules'], id: string) => Promise<unknown>][])(
  'a schedule that is paused by %s starts nothing, and what waits is given up',
  async ([, pause], { system }) => {
    system.executions.runsGoOn = true
    const id = await system.schedule({ cron: everySecond })
    await until(async () => (await system.firings(id)).some(({ state }) => state === waiting))
    await pause(system.schedules, id)
    const decided = async () => (await system.firings(id)).every(({ state }) => state === started || state === skipped)
    await until(decided)
    const kept = await system.firings(id)
    expect(kept.at(-1)).toMatchObject({ state: skipped })
    expect((await system.get(id)).nextExecutionAt).toBeUndefined()
    system.executions.active.clear()
    const other = await system.schedule({ dateTime: soon(1500) })
    await until(() => system.executions.of(other).length === 1)
    expect(system.executions.of(id)).toHaveLength(1)
    await system.schedules.resumeSchedule({ id }, demo)
    await until(() => system.executions.of(id).length >= 2)
    expect(system.nominals(id)[1]).toBeGreaterThan(kept.at(-1)!.nominal.getTime() / 1000 + 1)
  },
)

schedulerTest.concurrent(
  'a run whose start is under way when its schedule is paused is noted, and the next one waits for its end',
  async ({ system }) => {
    system.executions.runsGoOn = true
    const answers = system.executions.holdAnswers()
    const id = await system.schedule({ cron: everySecond })
    await until(() => system.executions.of(id).length === 1)
    await system.schedules.pauseSchedule({ id }, demo)
    await system.schedules.resumeSchedule({ id }, demo)
    await until(async () => (await system.firings(id)).length >= 2)
    answers.release()
    await until(async () => (await system.firings(id)).filter(({ state }) => state === skipped).length >= 1)
    const [run] = system.executions.of(id)
    expect((await system.firings(id)).slice(0, 2)).toMatchObject([
      { state: started, executionId: run!.id },
      { state: waiting },
    ])
    expect(system.executions.of(id)).toHaveLength(1)
    system.executions.active.clear()
    await until(() => system.executions.of(id).length >= 2)
  },
)

schedulerTest.concurrent(
  'a start that lands after another replica has given it up starts nothing',
  async ({ system }) => {
    system.executions.runsGoOn = true
    const starts = system.executions.holdStarts()
    const id = await system.schedule({ cron: everySecond })
    await until(() => system.executions.asked === 1)
    await system.schedules.pauseSchedule({ id }, demo)
    // As a replica is left behind that stands still for longer than its lease.
    await system.sql.query('UPDATE firings SET holder = gen_random_uuid(), due_at = now() WHERE state < 3')
    await until(async () => (await system.firings(id))[0]?.state === skipped)
    starts.release()
    await system.schedules.resumeSchedule({ id }, demo)
    await until(() => system.executions.of(id).length === 1)
    const [given, next] = await system.firings(id)
    expect(given).toMatchObject({ state: skipped, executionId: null })
    expect(system.nominals(id)).toEqual([next!.nominal.getTime() / 1000])
  },
)

schedulerTest.concurrent(
  'what is given up although a run was started for it is known as started',
  async ({ system }) => {
    system.executions.runsGoOn = true
    const id = await system.schedule({ cron: everySecond })
    await until(async () => (await system.firings(id))[0]?.state === started)
    await system.stopReplicas()
    // As a replica leaves it that is killed before it notes the run, and is away for long.
    await system.sql.query(
      `UPDATE firings SET state = 1, execution_id = NULL, decided_at = NULL, holder = gen_random_uuid(), due_at = now()
       WHERE nominal_at = (SELECT min(nominal_at) FROM firings)`,
    )
    await system.sql.query('UPDATE schedules SET last_execution_id = NULL')
    await system.sql.query(`UPDATE firings SET nominal_at = nominal_at - interval '1 hour' WHERE state = 1`)
    const [run] = system.executions.of(id)
    system.executions.backdate(run!, 3_600_000)
    await system.replica()
    await until(async () => (await system.firings(id))[0]?.executionId === run!.id)
  },
)
