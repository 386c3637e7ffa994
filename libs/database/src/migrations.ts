import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure } from '@automation/errors'
import type pg from 'pg'
import type { Logger } from '@automation/service'

interface Migration {
  name: string
  sql: string
  checksum: string
}

/**
 * Makes the schema and applies `<folder>/<name>/migration.sql` in the order of their names: each once, in a transaction
 * of its own together with its record in the schema's `migrations` table, one service at a time. `open` makes a client.
 * Failure `migration_changed` when the file of an applied one is no longer what was applied.
 */
export async function applyMigrations(
  open: () => pg.Client,
  schema: string,
  folder: string | URL | undefined,
  logger: Logger,
): Promise<void> {
  if (folder === undefined) return
  const migrations = await readMigrations(typeof folder === 'string' ? folder : fileURLToPath(folder))
  const client = open()
  // A lost connection also fails the query in flight, which is what is handled.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const applied = await alone(client, schema, () => recorded(client, schema))
    const made: string[] = []
    for (const migration of migrations) {
      const checksum = applied.get(migration.name)
      if (checksum === undefined) {
        if (await apply(client, schema, migration)) made.push(migration.name)
      } else if (checksum !== migration.checksum) throw changed(schema, migration.name)
    }
    if (made.length > 0) logger.info({ schema, migrations: made }, 'applied migrations')
    const known = new Set(migrations.map(({ name }) => name))
    const newer = [...applied.keys()].filter((name) => !known.has(name))
    if (newer.length > 0) logger.warn({ schema, migrations: newer }, 'the database is newer than this program')
  } finally {
    await client.end().catch((error: unknown) => logger.debug({ err: error }, 'closing after migrations'))
  }
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return Promise.all(
    names.toSorted().map(async (name) => {
      const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

async function recorded(client: pg.Client, schema: string): Promise<Map<string, string>> {
  const found = await client.query<{ schema: string | null; records: string | null }>(
    'SELECT to_regnamespace($1)::text AS schema, to_regclass($2)::text AS records',
    [schema, `${schema}.migrations`],
  )
  // Asked first: both statements want rights that a service's role may lack once they are there.
  if (found.rows[0]?.schema === null) await client.query(`CREATE SCHEMA "${schema}"`)
  if (found.rows[0]?.records === null)
    await client.query(
      `CREATE TABLE "${schema}".migrations (
         name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    )
  const { rows } = await client.query<{ name: string; checksum: string }>(
    `SELECT name, checksum FROM "${schema}".migrations`,
  )
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

/** Whether it was missing: another service may have applied it meanwhile. */
async function apply(client: pg.Client, schema: string, { name, sql, checksum }: Migration): Promise<boolean> {
  try {
    return await alone(client, schema, async () => {
      const known = await client.query(`SELECT FROM "${schema}".migrations WHERE name = $1`, [name])
      if (known.rowCount !== 0) return false
      await client.query(sql)
      await client.query(`INSERT INTO "${schema}".migrations (name, checksum) VALUES ($1, $2)`, [name, checksum])
      return true
    })
  } catch (error) {
    throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
}

/** In a transaction that no other service has at the same time. */
async function alone<T>(client: pg.Client, schema: string, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`migrations of ${schema}`])
  const result = await work()
  await client.query('COMMIT')
  return result
}

function changed(schema: string, name: string): Failure {
  return new Failure(
    'failed_precondition',
    'migration_changed',
    `Migration ${name} of schema ${schema} was applied with another content than its file has now. Put the file back as it was and write the change as a new migration; a development database can instead be thrown away (DROP SCHEMA ${schema} CASCADE).`,
  )
}
