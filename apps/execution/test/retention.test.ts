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
