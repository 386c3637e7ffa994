import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, type Database } from '@automation/database'
import { silentLogger, testDatabase, until, type TestDatabase } from '@automation/testing'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

let database: TestDatabase
let folder: string
let schemas = 0
let schema: string
const opened: Database[] = []

beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  schema = `service_${schemas++}`
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
  await rm(folder, { recursive: true })
})

async function open(options: Partial<Parameters<typeof openDatabase>[0]> = {}): Promise<Database> {
  const one = await openDatabase({
    url: database.url,
    schema,
    poolSize: 2,
    migrationsDir: folder,
    logger: silentLogger,
    ...options,
  })
  opened.push(one)
  return one
}

async function migration(name: string, sql: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, name, 'migration.sql'), sql)
}

test('migrations are applied in the order of their names, each once, into the schema of the service', async () => {
  await migration('0002_column', 'ALTER TABLE things ADD COLUMN size int NOT NULL DEFAULT 7')
  await migration('0001_table', 'CREATE TABLE things (id int); CREATE TABLE others (id int) PARTITION BY RANGE (id)')
  await open()
  const { pool } = await open()
  await pool.query('INSERT INTO things (id) VALUES (1)')
  expect((await pool.query(`SELECT * FROM ${schema}.things`)).rows).toEqual([{ id: 1, size: 7 }])
  const { rows } = await pool.query('SELECT name FROM migrations ORDER BY name')
  expect(rows.map(({ name }) => name)).toEqual(['0001_table', '0002_column'])
})

test('replicas that start at the same time apply each migration once', async () => {
  await migration('0001_table', 'CREATE TABLE things (id int)')
  const replicas = await Promise.all([open(), open(), open(), open()])
  expect((await replicas[0]!.pool.query('SELECT * FROM migrations')).rowCount).toBe(1)
})

test('a migration that fails leaves nothing behind and is named', async () => {
  await migration('0001_table', 'CREATE TABLE things (id int); CREATE TABLE things (id int)')
  await expect(open()).rejects.toThrow(/0001_table.*already exists/)
  await migration('0001_table', 'CREATE TABLE things (id int)')
  await open()
})

test('an applied migration whose file was changed is refused with what to do', async () => {
  await migration('0001_table', 'CREATE TABLE things (id int)')
  await open()
  await migration('0001_table', 'CREATE TABLE things (id bigint)')
  await expect(open()).rejects.toMatchObject({
    code: 'migration_changed',
    message: expect.stringMatching(/new migration/),
  })
})

test('a database that is newer than the program is served, as in a rolling update', async () => {
  await migration('0001_table', 'CREATE TABLE things (id int)')
  await migration('0002_more', 'CREATE TABLE more (id int)')
  await open()
  const older = `${folder}-older`
  await cp(join(folder, '0001_table'), join(older, '0001_table'), { recursive: true })
  const { pool } = await open({ migrationsDir: older })
  await rm(older, { recursive: true })
  expect((await pool.query('SELECT * FROM more')).rowCount).toBe(0)
})

test('a pool and its Prisma adapter see the schema of the service alone', async () => {
  await migration('0001_table', 'CREATE TABLE things (id int)')
  const { adapter, pool } = await open()
  await pool.query('INSERT INTO things VALUES (1)')
  const connection = await adapter.connect()
  const result = await connection.queryRaw({ sql: 'SELECT id FROM things', args: [], argTypes: [] })
  expect(result.rows).toEqual([[1]])
  await connection.dispose()
  expect((await pool.query('SELECT 1')).rowCount).toBe(1)
})

test('a check says whether the database answers', async () => {
  const one = await open()
  expect(await one.check()).toEqual({ name: 'database', ok: true })
  await one.close()
  expect(await one.check()).toMatchObject({ ok: false })
})

test('a check says why a database that answers refuses', async () => {
  const { pool } = await open()
  const name = new URL(database.url).pathname.slice(1)
  // Roles are of all databases of the server.
  const role = `limited_in_${name}`
  await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'of this test'`)
  await pool.query(`GRANT CREATE ON DATABASE ${name} TO ${role}`)
  const url = new URL(database.url)
  url.username = role
  url.password = 'of this test'
  const limited = await open({ url: url.href, schema: role })
  expect(await limited.check()).toEqual({ name: 'database', ok: true })
  await pool.query(`ALTER ROLE ${role} CONNECTION LIMIT 0`)
  await pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role])
  await until(async () => (await limited.check()).detail === 'it has no connection left')
  await pool.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`)
})

test('metrics tell of connections at work, of who waits for one, and of nothing once the pool is closed', async () => {
  const metrics = new Registry()
  const one = await open({ poolSize: 1, metrics, poolName: 'small' })
  await open({ poolSize: 7, metrics })
  const readMetrics = () => metrics.metrics()
  const series = (state: string) => `database_connections{schema="${schema}",pool="small",state="${state}"}`
  const client = await one.pool.connect()
  const waiting = one.pool.query('SELECT 1')
  expect(await readMetrics()).toContain(`${series('used')} 1\n`)
  expect(await readMetrics()).toContain(`${series('max')} 1\n`)
  expect(await readMetrics()).toContain(`database_waiting{schema="${schema}",pool="small"} 1\n`)
  expect(await readMetrics()).toContain(`database_connections{schema="${schema}",pool="main",state="max"} 7\n`)
  client.release()
  await waiting
  expect(await readMetrics()).toContain(`${series('idle')} 1\n`)
  await one.close()
  expect(await readMetrics()).not.toContain('pool="small"')
  expect(await readMetrics()).toContain('pool="main"')
})

test('as many connections as are wanted are there before the first caller', async () => {
  const { pool } = await open({ poolSize: 5, openAtFirst: 3 })
  expect([pool.totalCount, pool.idleCount]).toEqual([3, 3])
})
