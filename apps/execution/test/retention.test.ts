import { until } from '@automation/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { System } from './system.ts'

let system: System
beforeEach(async () => {
  system = await System.start()
})
afterEach(() => system.stop())

const addOldCallbacks = (many: number) =>
  system.rows(
    `INSERT INTO callbacks (execution_id, sequence, team, origin, done_at)
     SELECT gen_random_uuid(), 3, 'demo', 'https://receiver.example.com', now() - interval '1000 days'
       FROM generate_series(1, $1)`,
    [many],
  )
const count = async (table: string) => (await system.rows(`SELECT FROM ${table}`)).length

test('callbacks past retention go some at a time, however many there are', async () => {
  await system.rows(
    `CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF (SELECT count(*) > 1000 FROM gone) THEN RAISE EXCEPTION 'so many take too long'; END IF;
       RETURN NULL;
     END $$`,
  )
  await system.rows(
    `CREATE TRIGGER refuse_many AFTER DELETE ON callbacks REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`,
  )
  await addOldCallbacks(2500)
  // Who begins looks at once.
  await system.addReplica()
  await until(async () => (await count('callbacks')) === 0)
})

test('what cannot be removed holds up nothing else that is past retention', async () => {
  await system.rows(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$`,
  )
  await system.rows('CREATE TRIGGER refuse BEFORE DELETE ON callbacks FOR EACH ROW EXECUTE FUNCTION refuse()')
  await addOldCallbacks(1)
  await system.rows(
    `INSERT INTO start_keys (team, scope, key, expires_at) VALUES ('demo', 'webhook', 'old', now() - interval '1 s')`,
  )
  await system.addReplica()
  await until(async () => (await count('start_keys')) === 0)
  expect(await count('callbacks')).toBe(1)
})

test('of deleted processes the marks are forgotten when retention has passed since nothing was left of them', async () => {
  const kept = system.catalog.put('kept')
  await system.start('demo', { identifier: 'kept' })
  const mark = (processId: string, days: number | null) =>
    system.rows(
      `INSERT INTO deleted_processes (team, process_id, deleted_at, removed_at)
       VALUES ('demo', $1, now() - interval '1000 days', now() - make_interval(days => $2))`,
      [processId, days],
    )
  const [old, late, unremoved] = Array.from({ length: 3 }, () => crypto.randomUUID()) as [string, string, string]
  await mark(old, 900)
  await mark(late, 20)
  await mark(unremoved, null)
  // A move may have brought back what was removed.
  await mark(kept, 900)
  await system.addReplica()
  const marks = async () =>
    (await system.rows<{ id: string }>('SELECT process_id AS id FROM deleted_processes')).map(({ id }) => id)
  await until(async () => !(await marks()).includes(old))
  expect((await marks()).toSorted()).toEqual([late, unremoved, kept].toSorted())
})

test('however many processes were deleted, a list reads the marks of those alone of which something is left', async () => {
  await system.rows(
    `INSERT INTO deleted_processes (team, process_id, removed_at)
     SELECT 'demo', gen_random_uuid(), now() FROM generate_series(1, 20000)`,
  )
  await system.rows('ANALYZE deleted_processes')
  await system.list()
  for (const { part } of system.replicas.splice(0)) await part.stop(0)
  const open =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%FROM deleted_processes%'"
  await until(async () => (await system.rows(`${open} AND pid <> pg_backend_pid()`)).length === 0)
  const read = `SELECT seq_tup_read + idx_tup_fetch < 20000 AS few FROM pg_stat_user_tables WHERE relname = 'deleted_processes'`
  expect(await system.rows(read)).toEqual([{ few: true }])
})
