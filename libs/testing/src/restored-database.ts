import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPostgres } from '@automation/postgres'
import pg from 'pg'
import { pino } from 'pino'
import { follow } from './guide.ts'
import type { TestDatabase } from './test-database.ts'

/**
 * A logical restore of a database into a new PostgreSQL server, whose transactions are counted from the beginning: by the
 * commands of the guide where pg_dump is there and not older than the server, else row by row into the tables that `migrate` makes.
 */
export async function restoredDatabase(
  from: TestDatabase,
  migrate: (url: string) => Promise<void>,
): Promise<TestDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'automation-test-restored-'))
  const logger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'warn' })
  const server = await startPostgres({ dataDir, logger, maxConnections: 100, durable: false })
  if (await canDump(from.url)) await dumpAndRestore(from.url, server.url)
  else {
    await migrate(server.url)
    await copyRows(from.url, server.url)
  }
  const drop = async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  return { url: server.url, drop }
}

async function canDump(url: string): Promise<boolean> {
  const version = await promisify(execFile)('pg_dump', ['--version']).catch(() => undefined)
  const [, major = '0'] = / (\d+)\.\d+/.exec(version?.stdout ?? '') ?? []
  const [row] = await connected(url, (client) => rowsOf<{ version: number }>(client, serverMajor))
  return Number(major) >= row!.version
}

const serverMajor = "SELECT current_setting('server_version_num')::integer / 10000 AS version"

async function dumpAndRestore(from: string, to: string): Promise<void> {
  const backup = await mkdtemp(join(tmpdir(), 'automation-test-backup-'))
  try {
    await follow('backup-and-restore', 'backup-database', { BACKUP: backup, DATABASE_URL: from })
    await follow('backup-and-restore', 'restore-database', { BACKUP: backup, DATABASE_URL: to })
  } finally {
    await rm(backup, { recursive: true, force: true })
  }
}

/** Rows and sequences as they are, and partitions that are not there. */
async function copyRows(from: string, to: string): Promise<void> {
  await connected(from, (source) =>
    connected(to, async (target) => {
      const partitions = await rowsOf<{ name: string; parent: string; bound: string }>(source, partitionsOf)
      for (const { name, parent, bound } of partitions)
        await target.query(`CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${parent} ${bound}`)
      const tables = await rowsOf<{ name: string }>(source, tablesOf)
      for (const { name } of tables) {
        const [rows] = await rowsOf<{ all: string | null }>(source, `SELECT json_agg(t)::text AS all FROM ${name} t`)
        if (rows!.all === null) continue
        await target.query(`DELETE FROM ${name}`)
        await target.query(`INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, $1)`, [rows!.all])
      }
      const sequences = await rowsOf<{ name: string; last: string | null }>(source, sequencesOf)
      for (const { name, last } of sequences)
        if (last !== null) await target.query('SELECT setval($1::regclass, $2)', [name, last])
    }),
  )
}

const own = "NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"
const partitionsOf = `
  SELECT c.oid::regclass::text AS name, i.inhparent::regclass::text AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound
    FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid WHERE c.relispartition AND c.relkind = 'r'`
const tablesOf = `
  SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname ${own} ORDER BY c.oid`
const sequencesOf = `
  SELECT format('%I.%I', schemaname, sequencename) AS name, last_value AS last FROM pg_sequences`

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function rowsOf<T extends pg.QueryResultRow>(client: pg.Client, text: string): Promise<T[]> {
  return (await client.query<T>(text)).rows
}
