import { isDeepStrictEqual } from 'node:util'
import { refusal, until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { StorageUnderTest, upload, type Replica } from './storage-under-test.ts'

let under: StorageUnderTest
let replica: Replica
beforeAll(async () => {
  under = await StorageUnderTest.open()
  replica = await under.replica({ sweepEveryMs: 3_600_000 })
})
afterAll(() => under.close())

/** Puts so many objects there whose time was over so long ago. */
async function expired(team: string, name: string, count: number, ago = '1 minute'): Promise<void> {
  await under.sql.query(`INSERT INTO usage (team, bytes) VALUES ($1, 0) ON CONFLICT DO NOTHING`, [team])
  await under.sql.query(
    `WITH kept AS (
       INSERT INTO blobs (id, team, name, state, counted)
       SELECT gen_random_uuid(), $1, $2 || n, 2, 0 FROM generate_series(1, $3::int) n RETURNING team, name, id
     )
     INSERT INTO objects (team, name, blob_id, size, md5, content_type, created_by, created_at, updated_at, expires_at)
     SELECT team, name, id, 0, '', '', '', now(), now(), now() - $4::interval FROM kept`,
    [team, name, count, ago],
  )
}

/** Begins a pass: an upload that is deleted has left contents. */
async function sweep(): Promise<void> {
  const caller = userContext('sweeping')
  const { id } = await replica.uploads.createUpload({ name: 'a' }, caller)
  await replica.uploads.deleteUpload({ id }, caller)
}

const rowsOf = async (table: string) => {
  const { rows } = await under.sql.query<{ team: string; count: number }>(
    `SELECT team, count(*)::int FROM ${table} WHERE team IN ('noisy', 'quiet') GROUP BY team ORDER BY team`,
  )
  return rows
}

test('an object whose time is over can not be deleted, before it is removed, too', async () => {
  await expired('demo', 'over', 1)
  expect(await refusal(replica.storage.deleteObject({ name: 'over1' }, userContext('demo')))).toBe('object_not_found')
  await upload(replica.storage, 'after', 'x')
  await until(() => under.audit.of('after').length === 1)
  expect(under.audit.of('over1')).toEqual([])
})

test('a pass removes all objects whose time is over, however many a team has; what fails of one holds up nothing else', async () => {
  await under.sql.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`)
  await under.sql.query(
    `CREATE TRIGGER refuse BEFORE DELETE ON objects FOR EACH ROW WHEN (starts_with(OLD.name, 'bad')) EXECUTE FUNCTION refuse()`,
  )
  await expired('noisy', 'bad', 150, '1 hour')
  await expired('noisy', 'good', 300)
  await expired('quiet', 'good', 1)
  await sweep()
  const kept = [{ team: 'noisy', count: 150 }]
  await until(async () => isDeepStrictEqual([await rowsOf('objects'), await rowsOf('blobs')], [kept, kept]))
})
