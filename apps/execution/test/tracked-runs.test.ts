import { Status } from '@automation/contract/execution/v1/execution'
import { until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { newExecutionId } from '../src/execution-id.ts'
import { Connections } from '../src/store/connections.ts'
import { recountSlots } from '../src/store/run-slots.ts'
import { mendTracked } from '../src/store/tracked-runs.ts'
import { brokenInvariants } from './invariants.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({ runnerLeaseMs: 2000 })
})
afterEach(async () => expect(await brokenInvariants(system)).toEqual([]))
afterAll(() => system.stop())

const isTracked = async (id: string) =>
  (await system.rows('SELECT FROM executions WHERE id = $1 AND tracked', [id])).length === 1

test('the end of a quick run is heard of by no index: its row stays on its page', async () => {
  const own = await System.start()
  await own.runner()
  const runs = 40
  for (let count = 0; count < runs; count += 1) await own.run()
  // Connections that end say what they have counted.
  await Promise.all(own.replicas.splice(0).map(({ part }) => part.stop(0)))
  const updates = async () => {
    const [row] = await own.rows<{ all: number; hot: number }>(
      `SELECT sum(n_tup_upd)::integer AS all, sum(n_tup_hot_upd)::integer AS hot FROM pg_stat_user_tables
        WHERE relname ~ '^executions_[0-9]{8}$'`,
    )
    return row!.all >= runs ? row : undefined
  }
  const { all, hot } = await until(updates)
  expect(hot / all).toBeGreaterThan(0.95)
  await own.stop()
})

test('a run that goes on is listed once and ends with its runner, before and after indexes know of it', async () => {
  const runner = await system.runner({ slots: 2, runs: () => undefined })
  const running = async () => {
    const { executions, page } = await system.list({ status: Status.RUNNING }, 'long')
    expect(page!.total).toBe(executions.length)
    return executions.map(({ id }) => id)
  }
  const long = await system.start('long')
  await runner.run(long)
  expect(await running()).toEqual([long])
  await until(() => isTracked(long))
  const late = await system.start('long')
  await runner.run(late)
  expect(await running()).toEqual([late, long])
  runner.crash()
  for (const id of [long, late]) expect((await system.ended(id, 'long')).status).toBe(Status.ERROR)
  expect(await running()).toEqual([])
  expect(await isTracked(long)).toBe(false)
  const { processId } = await system.get(long, 'long')
  const { executions } = await system.list({ status: Status.ERROR, processId }, 'long')
  expect(executions.map(({ id }) => id)).toEqual([late, long])
})

test('what a replica of the release before has queued is run', async () => {
  const queued = await system.start('older')
  const id = newExecutionId()
  await system.rows(
    `WITH row AS (
       INSERT INTO executions
       SELECT (jsonb_populate_record(e, jsonb_build_object('id', $2::uuid, 'tracked', false))).* FROM executions e WHERE id = $1
     ), counted AS (UPDATE team_slots SET queued = queued + 1 WHERE team = 'older')
     INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
     SELECT $2, sequence, status, at, team, process_id FROM timeline_events WHERE execution_id = $1`,
    [queued, id],
  )
  await system.runner()
  for (const one of [queued, id]) expect((await system.ended(one, 'older')).status).toBe(Status.FINISHED)
  await system.dismissRunners()
})

test('a run that is killed in the queue is in no list of what waits', async () => {
  const id = await system.start('waiting')
  const waiting = async () => (await system.list({ status: Status.QUEUED }, 'waiting')).executions.map((run) => run.id)
  expect(await waiting()).toEqual([id])
  await system.executions.killExecution({ id }, userContext('waiting'))
  expect(await waiting()).toEqual([])
})

test('an open transaction keeps no run from being tracked, and what it commits late is found', async () => {
  const own = await System.start()
  const runner = await own.runner({ slots: 3, runs: () => undefined })
  const isTracked = async (id: string) =>
    (await own.rows('SELECT FROM executions WHERE id = $1 AND tracked', [id])).length === 1
  const [late, other] = [newExecutionId(), await own.start('open')]
  await runner.run(other)
  const open = await own.sql.connect()
  await open.query('BEGIN')
  await open.query(
    `WITH row AS (
       INSERT INTO executions
       SELECT (jsonb_populate_record(e, jsonb_build_object('id', $2::uuid, 'tracked', false))).* FROM executions e WHERE id = $1
     )
     INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
     SELECT $2, sequence, status, at, team, process_id FROM timeline_events WHERE execution_id = $1`,
    [other, late],
  )
  const id = await own.start('open')
  await runner.run(id)
  await until(() => isTracked(id))
  await open.query(`UPDATE team_slots SET running = running + 1 WHERE team = 'open'; COMMIT`)
  open.release()
  const { executions } = await own.list({ status: Status.RUNNING }, 'open')
  expect(executions.map((run) => run.id).sort()).toEqual([late, other, id].sort())
  await until(() => isTracked(late))
  expect(await brokenInvariants(own)).toEqual([])
  await own.stop()
})

test('where marking is far behind, what is RUNNING is refused, not cut off, and no slot is counted anew; then it catches up', async () => {
  const own = await System.start()
  const runner = await own.runner({ slots: 3, runs: () => undefined })
  const marking = await own.sql.connect()
  await marking.query('BEGIN; SELECT FROM tracking FOR UPDATE')
  // Of the time before: a few events in each transaction, of runs that are over.
  await marking.query(`UPDATE tracking SET below = '1', version = version + 1`)
  await marking.query(
    `INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id, xid)
     SELECT overlay($1::text PLACING to_char(n, 'FM000000000000') FROM 25)::uuid, 2, ${Status.RUNNING}, now(), 'behind', gen_random_uuid(),
            (2 + n / 300)::text::xid8
       FROM generate_series(1, 130000) AS n`,
    [newExecutionId()],
  )
  await marking.query('COMMIT; BEGIN; SELECT FROM tracking FOR UPDATE')
  const id = await own.start('behind')
  await runner.run(id)
  await expect(own.list({ status: Status.RUNNING }, 'behind')).rejects.toMatchObject({ code: 'unavailable' })
  const connections = new Connections(own.sql)
  await expect(recountSlots(connections)).rejects.toMatchObject({ code: 'unavailable' })
  expect(await own.rows(`SELECT running FROM team_slots WHERE team = 'behind'`)).toEqual([{ running: 1 }])
  await marking.query('COMMIT')
  marking.release()
  await until(() =>
    own.rows('SELECT FROM executions WHERE id = $1 AND tracked', [id]).then(({ length }) => length === 1),
  )
  const { executions } = await own.list({ status: Status.RUNNING }, 'behind')
  expect(executions.map((run) => run.id)).toEqual([id])
  expect(await recountSlots(connections)).toBe(0)
  await own.stop()
})

test('what a replica of the release before has ended or released is known again for what it is', async () => {
  const own = await System.start()
  const connections = new Connections(own.sql)
  const killed = await own.start('older')
  await own.executions.killExecution({ id: killed }, userContext('older'))
  own.catalog.put('needy', { awaitedDependencies: 'zod' })
  const released = await own.start('older', { identifier: 'needy' })
  await own.rows('UPDATE executions SET tracked = true, released_at = now() WHERE id = $1', [killed])
  await own.rows('UPDATE executions SET held = false WHERE id = $1', [released])
  expect(await mendTracked(connections)).toBe(2)
  expect(await mendTracked(connections)).toBe(0)
  await until(async () => (await own.get(released, 'older')).status === Status.QUEUED)
  expect(await brokenInvariants(own)).toEqual([])
  await own.stop()
})

test('counts of slots that are wrong are made right, and no other team waits for that', async () => {
  const own = await System.start()
  await own.start('counted')
  await own.start('busy')
  await own.rows(`UPDATE team_slots SET running = running + 3, queued = 7 WHERE team = 'counted'`)
  const holder = await own.sql.connect()
  await holder.query(`BEGIN; SELECT FROM team_slots WHERE team = 'busy' FOR UPDATE`)
  expect(await recountSlots(new Connections(own.sql))).toBe(1)
  await holder.query('COMMIT')
  holder.release()
  const counts = await own.rows(`SELECT running, wanted, queued FROM team_slots WHERE team = 'counted'`)
  expect(counts).toEqual([{ running: 0, wanted: 0, queued: 1 }])
  expect(await recountSlots(new Connections(own.sql))).toBe(0)
  await own.stop()
})
