import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { migrate, type SchemaOptions } from '@automation/database'
import pg from 'pg'
import { inject } from 'vitest'
import { silentLogger } from './part-context.ts'

export interface TestDatabase {
  url: string
  /** Cuts the connections that are still open and removes it. */
  drop(): Promise<void>
}

/** A schema, and what its service makes in it at a start by itself. */
export interface TestSchema extends SchemaOptions {
  /** Makes in a migrated database what would take each start of a test long. */
  prepare?(url: string): Promise<unknown>
}

/**
 * A fresh database of its own for a test file; make it in `beforeAll`, drop it in `afterAll`. With a schema it has that as
 * its migrations and `prepare` make it, copied from one that is made once; else it is empty. On a server that others have,
 * too, it is always empty.
 */
export async function testDatabase(schema?: TestSchema): Promise<TestDatabase> {
  const server = inject('databaseUrl')
  const isOwn = inject('isOwnServer')
  const template = schema && isOwn ? await templateOf(server, schema) : 'template0'
  const name = `test_${randomBytes(6).toString('hex')}`
  // A server that waits for no disk copies files at half of what their pages in the log cost.
  const strategy = isOwn ? 'STRATEGY FILE_COPY' : ''
  await onServer(server, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template} ${strategy}`))
  const drop = () =>
    onServer(server, async (client) => {
      const others = () => client.query('SELECT FROM pg_stat_activity WHERE datname = $1', [name])
      // A pool that has ended may be about to close its connections: cut then, they would emit an error that nobody hears.
      for (let tries = 0; tries < 20 && (await others()).rowCount !== 0; tries += 1) await setTimeout(10)
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    })
  return { url: addressOf(server, name), drop }
}

const templates = new Map<string, Promise<string>>()

/** A database that nobody changes any more, whichever worker of the run has made it. */
function templateOf(server: string, { schema, migrationsDir, prepare }: TestSchema): Promise<string> {
  const name = `template_${schema}${prepare === undefined ? '' : '_prepared'}`
  const known = templates.get(name)
  if (known !== undefined) return known
  const made = onServer(server, async (client) => {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount !== 0) return name
    const unfinished = `${name}_unfinished`
    await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${unfinished} TEMPLATE template0`)
    const url = addressOf(server, unfinished)
    await migrate({ url, schema, migrationsDir, logger: silentLogger })
    await prepare?.(url)
    await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`)
    return name
  })
  templates.set(name, made)
  return made
}

function addressOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
