import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrate } from '@automation/database'
import { testContext, testDatabase, until } from '@automation/testing'
import { InProcessNetwork } from '@automation/rpc'
import pg from 'pg'
import { expect, test } from 'vitest'
import { storageSchema } from '../src/service.ts'

test('an upload under way when objects begin to be counted is finished, and counted', async () => {
  const database = await testDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'automation-migrations-'))
  const all = fileURLToPath(storageSchema.migrationsDir)
  await cp(all, folder, { recursive: true, filter: (source) => !source.includes('0085_objects_counted') })
  const { logger } = testContext(new InProcessNetwork())
  const options = { ...storageSchema, url: database.url, logger }
  await migrate({ ...options, migrationsDir: folder })
  // Were there a deadlock, the upload would be the one that fails.
  const settings = '-c search_path=storage -c deadlock_timeout=50ms'
  const sql = new pg.Pool({ connectionString: database.url, options: settings, max: 2 })
  const upload = await sql.connect()
  // As a release does that counts nothing itself.
  await upload.query(`INSERT INTO usage VALUES ('demo', 1)`)
  await upload.query('BEGIN')
  await upload.query(`SELECT FROM usage WHERE team = 'demo' FOR UPDATE`)
  const migrated = migrate(options)
  const waits = `SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  await until(async () => (await sql.query(waits)).rowCount === 1, { what: 'the migration waits for the upload' })
  await upload.query(
    `WITH blob AS (
       INSERT INTO blobs VALUES (gen_random_uuid(), 'demo', 'a', 2, 1, NULL, NULL) RETURNING id
     )
     INSERT INTO objects SELECT 'demo', 'a', id, 1, '', '', '', now(), now() FROM blob`,
  )
  await upload.query('COMMIT')
  await migrated
  const { rows } = await sql.query('SELECT team, bytes, objects FROM usage')
  expect(rows).toEqual([{ team: 'demo', bytes: '1', objects: '1' }])
  upload.release()
  await sql.end()
  await database.drop()
  await rm(folder, { recursive: true })
})
