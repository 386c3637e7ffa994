import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { holdLock, openDatabase, type Database } from '@automation/database'
import { silentLogger, testDatabase, until, type TestDatabase } from '@automation/testing'
import { hasPgBouncer, startPgBouncer, type PgBouncer } from '@automation/testing/pgbouncer'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// Debian's PgBouncer 1.18, which knows no prepared statements in transaction mode.
describe.skipIf(!hasPgBouncer)('through PgBouncer in transaction mode', () => {
  let database: TestDatabase
  let pooler: PgBouncer
  let folder: string
  const opened: Database[] = []

  beforeAll(async () => {
    database = await testDatabase()
    pooler = await startPgBouncer(database.url, 4)
    folder = await mkdtemp(join(tmpdir(), 'migrations-'))
    await mkdir(join(folder, '0001_table'))
    await writeFile(join(folder, '0001_table', 'migration.sql'), 'CREATE TABLE things (id int PRIMARY KEY)')
  })
  afterAll(async () => {
    await Promise.all(opened.map((one) => one.close()))
    await pooler.stop()
    await database.drop()
    await rm(folder, { recursive: true })
  })

  async function open(options: Partial<Parameters<typeof openDatabase>[0]> = {}): Promise<Database> {
    const basics = { url: pooler.url, schema: 'service', poolSize: 8, migrationsDir: folder, logger: silentLogger }
    const one = await openDatabase({ ...basics, ...options })
    opened.push(one)
    return one
  }

  test('replicas that start at the same time apply each migration once', async () => {
    const [one] = await Promise.all([open(), open(), open()])
    expect((await one!.pool.query('SELECT name FROM migrations')).rows).toEqual([{ name: '0001_table' }])
  })

  test('each statement and each transaction has the settings of its pool, and leaves none behind', async () => {
    const pools = [await open({ settings: { synchronous_commit: 'off', jit: 'off' } }), await open()]
    const shown = `SELECT current_setting('search_path') AS path, current_setting('synchronous_commit') AS commit,
                          current_setting('statement_timeout') AS timeout`
    const settings = async (query: pg.ClientBase['query'] | pg.Pool['query']) => (await query(shown)).rows[0]
    const path = 'service, public'
    const expected = [
      { path, commit: 'off', timeout: '5s' },
      { path, commit: expect.any(String), timeout: '5s' },
    ]
    for (let round = 0; round < 5; round++) {
      const found = await Promise.all(pools.map(({ pool }) => settings(pool.query.bind(pool))))
      expect(found).toEqual(expected)
    }
    const client = await pools[0]!.pool.connect()
    await client.query('BEGIN')
    expect(await settings(client.query.bind(client))).toEqual(expected[0])
    await client.query('ROLLBACK')
    client.release()
  })

  test('named statements of many connections share those of the pooler, and take a fault as theirs alone', async () => {
    const { pool } = await open()
    const insert = (id: number) =>
      pool.query({ name: 'insert', text: 'INSERT INTO things VALUES ($1) RETURNING id', values: [id] })
    const made = await Promise.all(Array.from({ length: 50 }, (_, id) => insert(id)))
    expect(made.map(({ rows }) => rows[0].id)).toEqual(Array.from({ length: 50 }, (_, id) => id))
    const again = await Promise.allSettled([insert(7), insert(100), insert(8)])
    expect(again.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected'])
    expect((again[0] as PromiseRejectedResult).reason).toMatchObject({ code: '23505' })
    expect((await pool.query('SELECT count(*)::int AS count FROM things')).rows).toEqual([{ count: 51 }])
  })

  test('what Prisma asks for and does in a transaction', async () => {
    const { adapter } = await open()
    const connection = await adapter.connect()
    const ask = (sql: string) => connection.queryRaw({ sql, args: [], argTypes: [] })
    const transaction = await connection.startTransaction()
    await transaction.executeRaw({
      sql: 'INSERT INTO things VALUES ($1)',
      args: [200],
      argTypes: [{ scalarType: 'int', arity: 'scalar' }],
    })
    expect((await ask('SELECT id FROM things WHERE id = 200')).rows).toEqual([])
    // As Prisma does it: the adapter only gives the connection back.
    await transaction.executeRaw({ sql: 'COMMIT', args: [], argTypes: [] })
    await transaction.commit()
    expect((await ask('SELECT id FROM things WHERE id = 200')).rows).toEqual([[200]])
    await connection.dispose()
  })

  test('a lock is one replica’s until it is released or its connection is lost, and its work ends with it', async () => {
    const [one, other] = [await open(), await open()]
    const lock = (await holdLock(one.pool, 'leader'))!
    expect(await holdLock(other.pool, 'leader')).toBeUndefined()
    await lock.client.query('SELECT 1')
    lock.release()
    const next = await until(() => holdLock(other.pool, 'leader'))
    const direct = await openDatabase({ url: database.url, schema: 'service', poolSize: 1, logger: silentLogger })
    opened.push(direct)
    await direct.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
    const fails = (work: Promise<unknown>) =>
      work.then(
        () => false,
        () => true,
      )
    await until(() => fails(next.client.query('SELECT 1')))
    expect(await next.isHeld()).toBe(false)
    next.release()
    const last = await until(() => holdLock(one.pool, 'leader'))
    last.release()
  })

  test('who holds a lock makes an index without holding up writes', async () => {
    const { pool } = await open()
    const lock = (await holdLock(pool, 'indexes', { patient: true }))!
    await lock.client.query('CREATE INDEX CONCURRENTLY more ON service.things (id)')
    lock.release()
    expect((await pool.query(`SELECT FROM pg_indexes WHERE indexname = 'more'`)).rowCount).toBe(1)
  })
})
