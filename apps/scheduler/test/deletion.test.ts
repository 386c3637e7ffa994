import { TeamRemovalService } from '@automation/contract/schedule/v1/team_removal'
import { operatorContext, serviceContext, until } from '@automation/testing'
import { expect } from 'vitest'
import { demo, schedulerTest, type SchedulerUnderTest } from './scheduler-under-test.ts'

/** So many decided firings of each schedule. */
async function addFirings({ sql }: SchedulerUnderTest, each: number): Promise<void> {
  await sql.query(
    `INSERT INTO firings (schedule_id, nominal_at, state, execution_id, decided_at, team)
     SELECT s.id, now() - n * interval '1 min', 3, gen_random_uuid(), now(), s.team FROM schedules s, generate_series(1, $1) n`,
    [each],
  )
}

async function count({ sql }: SchedulerUnderTest, table: string): Promise<number> {
  return (await sql.query(`SELECT FROM ${table}`)).rowCount!
}

const yearly = '0 0 1 1 *'
const deleteProcess = (system: SchedulerUnderTest, processId: string) =>
  system.effects.deleteProcessSchedules({ team: 'demo', processId }, serviceContext('process-catalog', 'demo'))

schedulerTest('schedules are deleted at once, their firings go behind them', async ({ system }) => {
  const id = await system.schedule({ cron: yearly })
  const { processId } = await system.get(id)
  await system.schedule({ cron: yearly })
  await addFirings(system, 2500)
  const holder = await system.sql.connect()
  try {
    // As long as one can not go, none goes with its schedule.
    await holder.query('BEGIN')
    await holder.query('SELECT FROM firings FOR UPDATE')
    await system.schedules.deleteSchedule({ id }, demo)
    await expect(system.get(id)).rejects.toMatchObject({ code: 'schedule_not_found' })
    await deleteProcess(system, processId)
    expect((await system.schedules.listSchedules({}, demo)).schedules).toEqual([])
    expect(await count(system, 'firings')).toBe(5000)
  } finally {
    await holder.query('ROLLBACK')
    holder.release()
  }
  await until(async () => (await count(system, 'firings')) === 0)
})

schedulerTest('firings of what was deleted go, whoever deleted it and ended then', async ({ system }) => {
  await system.schedule({ cron: yearly })
  await addFirings(system, 2500)
  await system.stopReplicas()
  await system.sql.query('DELETE FROM schedules')
  await system.replica()
  await until(async () => (await count(system, 'firings')) === 0)
})

schedulerTest(
  'of deleted processes nothing is kept beyond retention, and nothing of others goes',
  async ({ system }) => {
    const { processId: living } = await system.get(await system.schedule({ cron: yearly }))
    const [old, fresh] = [crypto.randomUUID(), crypto.randomUUID()]
    await deleteProcess(system, old)
    await deleteProcess(system, fresh)
    await system.sql.query(`UPDATE processes SET deleted_at = now() - interval '31 days' WHERE id = $1`, [old])
    await system.stopReplicas()
    await system.replica()
    const kept = async () =>
      (await system.sql.query<{ id: string }>('SELECT id FROM processes')).rows.map(({ id }) => id)
    await until(async () => !(await kept()).includes(old))
    expect((await kept()).toSorted()).toEqual([living, fresh].toSorted())
  },
)

schedulerTest('what is to fire goes with its schedule', async ({ system }) => {
  const id = await system.schedule({ cron: yearly })
  system.executions.runsGoOn = true
  await system.schedules.runSchedule({ id }, demo)
  await system.missedFor(id, 1000)
  await until(async () => (await system.firings(id)).some(({ state }) => state < 3))
  await system.schedules.deleteSchedule({ id }, demo)
  expect((await system.firings(id)).filter(({ state }) => state < 3)).toEqual([])
})

schedulerTest('ten thousand schedules of a deleted process go', async ({ system }) => {
  const id = await system.schedule({ cron: yearly })
  const { processId } = await system.get(id)
  await system.copies(id, 9999)
  await deleteProcess(system, processId)
  expect((await system.schedules.getLimits({}, demo)).limits).toMatchObject([{ inUse: 0n }])
})

schedulerTest('what there is of a team is removed some at a time', async ({ system }) => {
  const id = await system.schedule({ cron: yearly })
  await system.copies(id, 1499)
  await addFirings(system, 4)
  const remove = () => system.client(TeamRemovalService).removeTeam({ team: 'demo' }, operatorContext())
  expect(await remove()).toMatchObject({ removed: 1000, done: false })
  expect(await count(system, 'schedules')).toBe(500)
  await until(async () => (await remove()).done)
  for (const table of ['schedules', 'firings', 'deleted_schedules', 'processes', 'team_zones', 'team_changes'])
    expect(await count(system, table), table).toBe(0)
})
