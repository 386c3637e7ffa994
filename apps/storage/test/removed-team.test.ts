import { operatorContext, removalSteps, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { read, StorageUnderTest, upload, type Replica } from './storage-under-test.ts'

let under: StorageUnderTest
let replica: Replica
beforeAll(async () => {
  under = await StorageUnderTest.open()
  replica = await under.replica({ sweepEveryMs: 3_600_000 })
})
afterAll(() => under.close())

test('a team is removed step by step, however much it has, and no other', async () => {
  const { storage, datastore, removal } = replica
  const belongings = async (team: string) => {
    await datastore.setValue({ key: 'a', value: '1' }, userContext(team))
    return upload(storage, 'a', 'content', {}, userContext(team))
  }
  await belongings('big')
  const other = await belongings('other')
  // Of one content: a removal of that many files takes a minute.
  await under.sql.query(`ALTER TABLE objects DISABLE TRIGGER USER`)
  await under.sql
    .query(`INSERT INTO objects (team, name, blob_id, size, md5, content_type, created_by, created_at, updated_at)
    SELECT team, 'o' || n, blob_id, size, md5, content_type, created_by, created_at, updated_at
      FROM objects, generate_series(1, 20000) n WHERE team = 'big'`)
  await under.sql.query(`ALTER TABLE objects ENABLE TRIGGER USER`)
  await under.sql.query(`UPDATE usage SET objects = 20001 WHERE team = 'big'`)
  await under.sql.query(`INSERT INTO blobs (id, team, name, state, counted, due_at)
    SELECT gen_random_uuid(), 'big', '', n, 0, CASE n WHEN 1 THEN now() END FROM generate_series(1, 2) n, generate_series(1, 150)`)
  const steps = await removalSteps(() => removal.removeTeam({ team: 'big' }, operatorContext()))
  for (const removed of steps) expect(removed).toBeLessThanOrEqual(1000)
  expect(steps.reduce((sum, each) => sum + each, 0)).toBe(20_001 + 1 + 301)
  for (const table of ['objects', 'blobs', 'datastore', 'usage']) {
    const { rows } = await under.sql.query(`SELECT DISTINCT team FROM ${table}`)
    expect(rows, table).toEqual([{ team: 'other' }])
  }
  expect((await read(storage, other, userContext('other'))).toString()).toBe('content')
})
