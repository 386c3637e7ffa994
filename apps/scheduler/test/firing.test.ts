import { Failure, unavailable } from '@automation/errors'
import { until, userContext } from '@automation/testing'
import { expect } from 'vitest'
import {
  demo,
  everySecond,
  schedulerTest,
  soon,
  started,
  skipped,
  waiting,
  type KeptFiring,
} from './scheduler-under-test.ts'

const everyMinute = '* * * * *'
const daily = '0 0 * * *'

schedulerTest.concurrent(
  'what is due once starts one run at its time, with all that the schedule says, and nothing more',
  async ({ system }) => {
    const input = {
      tag: 'live',
      parameters: Buffer.from('{"a":1}'),
      comment: 'nightly',
      settings: { agentPool: 'big', timeoutMs: 500, freshProcess: true },
    }
    const at = soon(1500)
    const id = await system.schedule({ dateTime: at, input })
    const run = await until(() => system.executions.of(id)[0])
    expect(run.at).toBeGreaterThanOrEqual(Date.parse(at.text))
    expect(run).toMatchObject({ team: 'demo', request: { ...input, createdBy: 'tester', initiatedBy: 'an app' } })
    await until(async () => (await system.firings(id))[0]?.state === started)
    expect((await system.get(id)).nextExecutionAt).toBeUndefined()
    expect(system.executions.asked).toBe(1)
  },
)

schedulerTest.concurrent('what is due each second starts a run for each second', async ({ system }) => {
  const id = await system.schedule({ cron: everySecond, allowConcurrentExecutions: true })
  await until(() => system.nominals(id).length >= 4)
  const [first = 0] = system.nominals(id)
  expect(system.nominals(id).slice(0, 4)).toEqual([first, first + 1, first + 2, first + 3])
})

schedulerTest.concurrent(
  'with several replicas each firing starts one run, also where one of them is slow to go',
  async ({ system }) => {
    await system.replica()
    const { part } = await system.replica()
    const ids = await Promise.all(
      Array.from({ length: 40 }, () => system.schedule({ cron: everySecond, allowConcurrentExecutions: true })),
    )
    await until(() => ids.every((id) => system.nominals(id).length >= 2))
    await until(() => system.executions.asked === system.executions.runs.length)
    // What it has asked for without an answer is asked for again by others.
    await part.stop(0)
    // What it had taken comes late.
    const isEachOnce = (seconds: number[]) => seconds.every((second, index) => second === seconds[0]! + index)
    const seconds = () => ids.map((id) => system.nominals(id).toSorted((a, b) => a - b))
    await until(() => seconds().every((each) => each.length >= 4 && isEachOnce(each)), {
      what: () => JSON.stringify(seconds()),
    })
  },
)

schedulerTest.concurrent(
  'a run that goes on holds up the next one; one waits, others are skipped, and it comes when the run is over',
  async ({ system }) => {
    system.executions.runsGoOn = true
    const id = await system.schedule({ cron: everySecond })
    await until(async () => (await system.firings(id)).filter(({ state }) => state === skipped).length >= 2)
    const kept = await system.firings(id)
    expect(kept.slice(0, 4).map(({ state }) => state)).toEqual([started, waiting, skipped, skipped])
    expect(kept[2]!.explanation).toBe('Another firing waits already')
    expect(system.executions.of(id)).toHaveLength(1)
    system.executions.active.clear()
    await until(() => system.executions.of(id).length >= 2)
    expect(system.nominals(id)[1]).toBe(kept[1]!.nominal.getTime() / 1000)
  },
)

schedulerTest.concurrent('runs that may go on at the same time do not wait', async ({ system }) => {
  system.executions.runsGoOn = true
  const id = await system.schedule({ cron: everySecond, allowConcurrentExecutions: true })
  await until(() => system.nominals(id).length >= 3)
  expect(system.executions.active.size).toBeGreaterThanOrEqual(3)
})

schedulerTest.concurrent('a team whose runs nobody can ask after holds up no runs of another', async ({ system }) => {
  system.executions.hangingTeams.add('stuck')
  const stuck = await system.schedules.createSchedule({ process: 'report', cron: everySecond }, userContext('stuck'))
  await until(async () => (await system.firings(stuck.id)).length >= 2)
  const id = await system.schedule({ cron: everySecond })
  await until(() => system.nominals(id).length >= 4)
  for (const { at, request } of system.executions.of(id)) expect(at - Number(request.nominalTimeMs)).toBeLessThan(5000)
  expect(system.executions.of(stuck.id)).toHaveLength(1)
})

schedulerTest.concurrent('after a time away the last missed time is made up for, once', async ({ system }) => {
  const id = await system.schedule({ cron: everyMinute })
  await system.stopReplicas()
  await system.missedFor(id, 10 * 60_000, 60)
  await system.replica()
  await until(() => system.nominals(id).length > 0)
  const [nominal = 0] = system.nominals(id)
  expect(Date.now() / 1000 - nominal).toBeLessThan(62)
  expect(nominal % 60).toBe(0)
  const { nextExecutionAt } = await system.get(id)
  expect(Number(nextExecutionAt!.seconds)).toBe(nominal + 60)
  await until(async () => (await system.firings(id)).at(-1)?.state === started)
  const firings = await system.firings(id)
  expect(firings.map(({ state }) => state)).toEqual([skipped, started])
  const more = (nominal - firings[0]!.nominal.getTime() / 1000) / 60 - 1
  const last = new Date((nominal - 60) * 1000).toISOString()
  expect(firings[0]!.explanation).toBe(`It was missed for too long, and so were ${more} more until ${last}`)
})

schedulerTest.concurrent('of many times that were missed no more than a hundred are counted', async ({ system }) => {
  const id = await system.schedule({ cron: everySecond })
  await system.stopReplicas()
  await system.missedFor(id, 400 * 86_400_000)
  await system.replica()
  await until(() => system.nominals(id).length > 0)
  const [{ explanation }, next] = (await system.firings(id)) as [KeptFiring, KeptFiring]
  const back = next.nominal.toISOString()
  expect(explanation).toBe(`It was missed for too long, and so were more than 100 until ${back}`)
})

schedulerTest.concurrent('what was missed for more than an hour is skipped, and that is kept', async ({ system }) => {
  const id = await system.schedule({ cron: daily })
  await system.stopReplicas()
  await system.sql.query(
    `UPDATE schedules SET cron = '0 ' || extract(hour FROM now() AT TIME ZONE 'UTC' - interval '2 hours') || ' * * *',
    next_at = date_trunc('hour', now() - interval '2 hours') WHERE id = $1`,
    [id],
  )
  await system.replica()
  const firing = await until(async () => (await system.firings(id))[0])
  expect(firing).toMatchObject({ state: skipped, explanation: 'It was missed for too long' })
  expect(system.executions.asked).toBe(0)
  expect(Number((await system.get(id)).nextExecutionAt!.seconds)).toBeGreaterThan(Date.now() / 1000)
})

schedulerTest.concurrent('what is due once runs however late it is', async ({ system }) => {
  const id = await system.schedule({ dateTime: soon(3_600_000) })
  await system.stopReplicas()
  await system.missedFor(id, 40 * 86_400_000)
  await system.replica()
  await until(() => system.executions.of(id).length === 1)
})

schedulerTest.concurrent(
  'while execution is away firings wait, and each starts one run when it is back',
  async ({ system }) => {
    system.executions.failure = undefined
    const once = await system.schedule({ dateTime: soon(1500) })
    system.executions.failure = unavailable('away')
    await until(() => system.executions.asked >= 2)
    system.executions.failure = undefined
    await until(() => system.executions.of(once).length === 1)
    await until(async () => (await system.firings(once))[0]?.state === started)
  },
)

schedulerTest.concurrent('a firing of what is gone is skipped, with the reason', async ({ system }) => {
  const id = await system.schedule({ dateTime: soon(1500) })
  system.executions.processes.clear()
  const decided = async () => (await system.firings(id)).find(({ state }) => state === skipped)
  expect((await until(decided)).explanation).toBe('Process not found')
})

schedulerTest.concurrent(
  'a firing that is refused for good is skipped, with the reason, and the schedule stays',
  async ({ system }) => {
    const id = await system.schedule({ dateTime: soon(1500) })
    system.executions.failure = new Failure('too_large', 'parameters_too_large', 'The parameters are too large')
    const decided = async () => (await system.firings(id)).find(({ state }) => state === skipped)
    expect((await until(decided)).explanation).toBe('The parameters are too large')
    expect(system.executions.asked).toBe(1)
    system.executions.failure = undefined
    expect((await system.get(id)).id).toBe(id)
  },
)

schedulerTest.concurrent(
  'a firing whose replica was lost in the middle is taken up by another, without a second run',
  async ({ system }) => {
    const id = await system.schedule({ dateTime: soon(3_600_000) })
    await system.stopReplicas()
    await system.missedFor(id, 0)
    await system.sql.query(
      `INSERT INTO firings (schedule_id, nominal_at, state, due_at) SELECT id, next_at, 1, now() + interval '300 ms' FROM schedules`,
    )
    await system.sql.query('UPDATE schedules SET next_at = NULL')
    await system.replica()
    await until(() => system.executions.of(id).length === 1)
    await until(async () => (await system.firings(id))[0]?.state === started)
  },
)

schedulerTest.concurrent(
  'where the clock was put back, what was to come by it comes by the new one',
  async ({ system }) => {
    const id = await system.schedule({ cron: everySecond })
    const yearly = await system.schedule({ cron: '0 0 1 1 *' })
    const { nextExecutionAt } = await system.get(yearly)
    await until(async () => (await system.firings(id)).some(({ state }) => state === started))
    await system.stopReplicas()
    await system.sql.query(
      `UPDATE schedules SET next_at = next_at + interval '3 h', last_nominal_at = last_nominal_at + interval '3 h' WHERE id = $1`,
      [id],
    )
    await system.sql.query(
      `UPDATE firings SET nominal_at = nominal_at + interval '3 h', decided_at = decided_at + interval '3 h'`,
    )
    await system.sql.query(
      `INSERT INTO firings (schedule_id, nominal_at, state, due_at) VALUES ($1, date_trunc('second', now()), 1, now() + interval '3 h')`,
      [id],
    )
    const before = system.executions.of(id).length
    await system.replica()
    await until(() => system.executions.of(id).length >= before + 3)
    await until(async () => (await system.firings(id))[0]?.state === started)
    const latest = Math.max(...(await system.firings(id)).map(({ nominal }) => nominal.getTime()))
    expect(latest).toBeLessThan(Date.now() + 60_000)
    const { rows } = await system.sql.query('SELECT last_execution_id AS last FROM schedules WHERE id = $1', [id])
    expect(
      system.executions
        .of(id)
        .slice(before)
        .map((run) => run.id),
    ).toContain(rows[0].last)
    expect((await system.get(yearly)).nextExecutionAt).toEqual(nextExecutionAt)
  },
)

schedulerTest.concurrent('a deleted schedule starts nothing any more', async ({ system }) => {
  const id = await system.schedule({ dateTime: soon(1500) })
  await system.schedules.deleteSchedule({ id }, demo)
  const other = await system.schedule({ dateTime: soon(1900) })
  await until(() => system.executions.of(other).length === 1)
  expect(system.executions.of(id)).toEqual([])
})

schedulerTest.concurrent(
  'metrics tell how many firings are open, and for how long the first of them has been due',
  async ({ system }) => {
    const oldest = async () => /^scheduler_firings_oldest_seconds (\S+)/m.exec(await system.metrics())?.[1]
    await system.schedule({ dateTime: soon(1500) })
    system.executions.failure = unavailable('away')
    await until(async () => Number(await oldest()) > 0, { timeoutMs: 20_000 })
    expect(await system.metrics()).toContain('scheduler_firings_open 1\n')
    system.executions.failure = undefined
    await until(async () => (await system.metrics()).includes('scheduler_firings_open 0\n'), { timeoutMs: 20_000 })
    expect(Number(await oldest())).toBe(0)
  },
)

schedulerTest.concurrent('metrics are told without a database, too', async ({ system }) => {
  const { part, metrics } = await system.replica()
  await part.stop(0)
  expect(await metrics()).toMatch(/^scheduler_firings_open \d/m)
})
