import { until, userContext } from '@automation/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { everySecond, SchedulerUnderTest, soon } from './scheduler-under-test.ts'

const noisy = userContext('noisy')
let system: SchedulerUnderTest

beforeEach(async () => {
  system = await SchedulerUnderTest.open()
  system.executions.process('report')
})
afterEach(() => system.close())

/** So many schedules of the noisy team, as this one; due at once where a time is to have passed. */
async function multiply(id: string, count: number): Promise<void> {
  const { rows } = await system.sql.query<{ column_name: string }>(
    `SELECT column_name FROM information_schema.columns
      WHERE table_schema = 'scheduler' AND table_name = 'schedules' AND column_name <> 'id'`,
  )
  const columns = rows.map(({ column_name }) => column_name).join()
  await system.sql.query(
    `INSERT INTO schedules (id, ${columns})
     SELECT gen_random_uuid(), ${columns} FROM schedules, generate_series(2, $2) WHERE id = $1`,
    [id, count],
  )
}

test('a neighbour of a team with very many schedules is not held up by starts of theirs that take long', async () => {
  system.executions.hangingStarts.add('noisy')
  const often = { process: 'report', cron: everySecond, allowConcurrentExecutions: true }
  const { id: first } = await system.schedules.createSchedule(often, noisy)
  await multiply(first, 1000)
  // More than can be asked for at once are under way.
  await until(() => system.executions.asked >= 200)
  const id = await system.schedule({ cron: everySecond })
  await until(() => system.nominals(id).length >= 5, { timeoutMs: 20_000 })
  for (const { at, request } of system.executions.of(id)) expect(at - Number(request.nominalTimeMs)).toBeLessThan(5000)
})

test('what has been due for longer, of a team with very many schedules, is not all before the firing of a neighbour', async () => {
  const { id: first } = await system.schedules.createSchedule({ process: 'report', dateTime: soon(3_600_000) }, noisy)
  const id = await system.schedule({ dateTime: soon(3_600_000) })
  await system.stopReplicas()
  await multiply(first, 4000)
  await system.sql.query(
    `UPDATE schedules SET next_at = now() - interval '1 hour', date_time = now() - interval '1 hour'`,
  )
  await system.missedFor(id, 1000)
  await system.replica()
  await until(() => system.executions.of(id).length === 1, { timeoutMs: 20_000 })
  expect(system.executions.runs.length).toBeLessThan(2000)
})
