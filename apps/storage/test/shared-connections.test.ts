import { until, userContext } from '@automation/testing'
import { expect, test } from 'vitest'
import { runContext, StorageUnderTest, upload } from './storage-under-test.ts'

test('a team whose looks at its values wait leaves connections for others', async () => {
  const under = await StorageUnderTest.open()
  const { datastore, storage } = await under.replica()
  const other = await under.sql.connect()
  await other.query(`BEGIN; LOCK TABLE datastore`)
  const looks = Array.from({ length: 20 }, () => datastore.listKeys({ prefix: '' }, runContext('slow')))
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await until(async () => ((await under.sql.query(waiting)).rowCount ?? 0) >= 4)
  expect(await upload(storage, 'mine', 'x', {}, userContext('another'))).toMatchObject({ name: 'mine' })
  await other.query('ROLLBACK')
  other.release()
  expect(await Promise.all(looks)).toHaveLength(20)
  await under.close()
})

test('a team whose changes wait for each other leaves connections for others', async () => {
  const under = await StorageUnderTest.open()
  const { storage } = await under.replica()
  const slow = userContext('slow')
  await upload(storage, 'first', 'x', {}, slow)
  const other = await under.sql.connect()
  await other.query('BEGIN')
  await other.query(`SELECT FROM usage WHERE team = 'slow' FOR UPDATE`)
  const changes = Array.from({ length: 20 }, (_, n) => upload(storage, `f${n}`, 'x', {}, slow))
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await until(async () => ((await under.sql.query(waiting)).rowCount ?? 0) >= 4)
  expect(await upload(storage, 'mine', 'x', {}, userContext('another'))).toMatchObject({ name: 'mine' })
  await other.query('ROLLBACK')
  other.release()
  expect(await Promise.all(changes)).toHaveLength(20)
  await under.close()
})
