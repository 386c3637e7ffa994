import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'

/** Where the PostgreSQL of a system is that was started here. */
export async function databaseUrlOf(dataDir: string): Promise<string> {
  const [password, postmaster] = await Promise.all([
    readFile(join(dataDir, 'postgres/password'), 'utf8'),
    readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'),
  ])
  return `postgres://postgres:${encodeURIComponent(password.trim())}@127.0.0.1:${postmaster.split('\n')[3]!.trim()}/postgres`
}

/** Lets `read` ask the PostgreSQL of a system that was started here, which it can only read. */
export async function withRows<T>(dataDir: string, read: (client: Client) => Promise<T>): Promise<T> {
  return withRowsAt(await databaseUrlOf(dataDir), read)
}

/** The same of a database that is wherever. */
export async function withRowsAt<T>(databaseUrl: string, read: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: databaseUrl, options: '-c default_transaction_read_only=on' })
  await client.connect()
  try {
    return await read(client)
  } finally {
    await client.end()
  }
}

/** Tables of all services that hold this id in any column of ids or keys, but those named. */
export function tablesThatName(dataDir: string, id: string, except: readonly string[]): Promise<string[]> {
  return withRows(dataDir, async (client) => {
    const { rows: columns } = await client.query<{ table: string; column: string }>(
      `SELECT format('%I.%I', n.nspname, c.relname) AS table, quote_ident(a.attname) AS column
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
          AND n.nspname !~ '^(pg_|information_schema$)' AND (a.atttypid = 'uuid'::regtype OR a.attname ~ '(_id|subject)$')`,
    )
    const found: string[] = []
    for (const { table, column } of columns.filter((one) => !except.includes(one.table))) {
      const { rowCount } = await client.query(`SELECT FROM ${table} WHERE ${column}::text = $1 LIMIT 1`, [id])
      if (rowCount) found.push(`${table} ${column}`)
    }
    return found
  })
}
