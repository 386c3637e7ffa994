import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseFailure, openDatabase, type Database } from '@automation/database'
import { startPostgres, type RunningPostgres } from '@automation/postgres'
import { silentLogger, until } from '@automation/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

let dataDir: string
let server: RunningPostgres
let database: Database

async function start(port?: number): Promise<void> {
  server = await startPostgres({ dataDir, logger: silentLogger, durable: false, port })
}

/** At the same address, as it would be for a service. */
async function startAgain(): Promise<void> {
  await start(Number(new URL(server.tcpUrl).port))
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'automation-away-'))
  await start()
})
afterAll(async () => {
  await server.stop()
  await rm(dataDir, { recursive: true })
})

beforeEach(async () => {
  database = await openDatabase({
    url: server.url,
    schema: 'service',
    poolSize: 1,
    logger: silentLogger,
    queryTimeoutMs: 400,
    connectTimeoutMs: 400,
  })
})
afterEach(() => database.close())

/** What a caller is told, and that it does not wait for the end of what hangs. */
async function failureOf(call: () => Promise<unknown>) {
  const from = performance.now()
  const failure = await call().then(
    () => undefined,
    (error: unknown) => databaseFailure(error),
  )
  expect(performance.now() - from).toBeLessThan(20_000)
  return failure
}

const unavailable = { kind: 'unavailable', retryAfterS: 1 }

test('while the server is away callers are told so, and it is found again when it is back', async () => {
  const { adapter, pool } = database
  await pool.query('SELECT 1')
  const prisma = await adapter.connect()
  await server.stop()
  expect(await failureOf(() => pool.query('SELECT 1'))).toMatchObject(unavailable)
  expect(await failureOf(() => pool.query('SELECT 1'))).toMatchObject(unavailable)
  expect(await failureOf(() => prisma.queryRaw({ sql: 'SELECT 1', args: [], argTypes: [] }))).toMatchObject(unavailable)
  expect(await database.check()).toMatchObject({ ok: false })
  await startAgain()
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

test('while the server refuses its role callers are told so, and what only starts fails at once', async () => {
  const { pool } = database
  const { rows } = await pool.query<{ name: string }>('SELECT current_database() AS name')
  await pool.query("CREATE ROLE rotated LOGIN PASSWORD 'the-same'")
  await pool.query(`GRANT CREATE ON DATABASE "${rows[0]!.name}" TO rotated`)
  const url = new URL(server.url)
  url.username = 'rotated'
  url.password = 'the-same'
  const options = { url: url.href, schema: 'rotated', poolSize: 1, openAtFirst: 1, logger: silentLogger }
  const own = await openDatabase(options)
  const prisma = await own.adapter.connect()
  await pool.query('ALTER ROLE rotated NOLOGIN')
  await pool.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotated'")
  await until(async () => !(await own.check()).ok)
  expect(await failureOf(() => own.pool.query('SELECT 1'))).toMatchObject(unavailable)
  expect(await failureOf(() => prisma.queryRaw({ sql: 'SELECT 1', args: [], argTypes: [] }))).toMatchObject(unavailable)
  await expect(openDatabase(options)).rejects.toMatchObject({ code: '28000' })
  await pool.query('ALTER ROLE rotated LOGIN')
  expect((await own.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  await own.close()
})

test('a server that freezes is given up after the time for one statement', async () => {
  const { rows } = await database.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const pid = rows[0]!.pid
  process.kill(pid, 'SIGSTOP')
  expect(await failureOf(() => database.pool.query('SELECT 1'))).toMatchObject(unavailable)
  process.kill(pid, 'SIGCONT')
})

test('callers that find no free connection are told so', async () => {
  const held = await database.pool.connect()
  expect(await failureOf(() => database.pool.query('SELECT 1'))).toMatchObject(unavailable)
  expect(await database.check()).toMatchObject({ ok: false })
  held.release()
})

test('a statement whose server shuts down in the middle is told as unavailable', async () => {
  const text = 'SELECT pg_sleep(60)'
  const patient = { url: server.url, schema: 'patient', poolSize: 1, logger: silentLogger, queryTimeoutMs: 60_000 }
  const sleeping = await openDatabase(patient)
  const failure = failureOf(() => sleeping.pool.query(text))
  await until(async () => {
    const other = await openDatabase({ url: server.url, schema: 'other', poolSize: 1, logger: silentLogger })
    const { rowCount } = await other.pool.query(
      "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' AND wait_event = 'PgSleep'",
    )
    await other.close()
    return rowCount === 1
  })
  await server.stop()
  expect(await failure).toMatchObject(unavailable)
  await sleeping.close()
  await startAgain()
})

test('a connection that is lost in a transaction fails the statement, and not the process', async () => {
  const client = await database.pool.connect()
  const ended = new Promise((resolve) => client.once('end', resolve))
  await client.query('BEGIN')
  const failure = await failureOf(() => client.query('SELECT pg_terminate_backend(pg_backend_pid())'))
  await ended
  expect(failure).toMatchObject(unavailable)
  expect(await failureOf(() => client.query('COMMIT'))).toMatchObject(unavailable)
  client.release(true)
  expect((await database.pool.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }])
})

test('a statement that its caller has given up goes on for no longer than a second in the server', async () => {
  expect(await failureOf(() => database.pool.query('SELECT pg_sleep(60) AS given_up'))).toMatchObject(unavailable)
  await until(async () => {
    const { rows } = await database.pool.query(
      `SELECT 1 FROM pg_stat_activity WHERE query LIKE '%given_up%' AND state = 'active' AND pid <> pg_backend_pid()`,
    )
    return rows.length === 0
  })
})

test('a service that starts before its database waits for it', async () => {
  await server.stop()
  const migrationsDir = await mkdtemp(join(tmpdir(), 'migrations-'))
  const opening = openDatabase({
    url: server.tcpUrl,
    schema: 'early',
    poolSize: 1,
    migrationsDir,
    logger: silentLogger,
  })
  await new Promise((resolve) => setTimeout(resolve, 150))
  await startAgain()
  const opened = await opening
  expect(await opened.check()).toMatchObject({ ok: true })
  await opened.close()
  await rm(migrationsDir, { recursive: true })
})
