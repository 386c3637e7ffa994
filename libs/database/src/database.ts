import { pause, within, type Check, type Logger, type Registry } from '@automation/service'
import { PrismaPg } from '@prisma/adapter-pg'
import { Gauge } from 'prom-client'
import { isConnectionFailure, isRefused } from './failure.ts'
import { applyMigrations } from './migrations.ts'
import { throughPooler, withoutSession } from './pooler.ts'

import pg from 'pg'

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database, or a socket's folder as ?host=; with ?pgbouncer=true where a pooler is between. */
  url: string
  /** The PostgreSQL schema that belongs to this service alone; made when it is not there. */
  schema: string
  poolSize: number
  /** How many connections are there before the first caller is, who would wait for one on a busy machine; none. */
  openAtFirst?: number
  /** Folder of `<name>/migration.sql` files; absent for a second pool on a schema that is already migrated. */
  migrationsDir?: string | URL
  logger: Logger
  /** Where to tell how busy the pool is. */
  metrics?: Registry
  /** What the pool is called there; `main`. */
  poolName?: string
  /** How long a caller waits for a connection, in ms. */
  connectTimeoutMs?: number
  /**
   * How long one statement may take before its connection is given up, in ms; a query's own `query_timeout` wins. The
   * server ends it a little later, unless `settings` have a `statement_timeout` of their own: what nobody waits for any
   * more holds no locks.
   */
  queryTimeoutMs?: number
  /** After how long an idle connection is closed, in ms; 0 for never. */
  idleTimeoutMs?: number
  /** Settings of every connection of this pool, such as `synchronous_commit: 'off'`. */
  settings?: Record<string, string>
  /** Ends the wait for a database that is not there yet. */
  signal?: AbortSignal
}

export interface Database {
  pool: pg.Pool
  /** For `new PrismaClient({ adapter })`; on the same pool. */
  adapter: PrismaPg
  /** For readiness: one round trip, at most one second. */
  check(): Promise<Check>
  close(): Promise<void>
}

const statementMarginMs = 500

/**
 * Opens a service's schema: makes it, applies what migrations are missing, and gives a pool whose search_path is that
 * schema. While the database can't be reached it waits and tries again, until `signal` is aborted; any other fault is thrown.
 * Callers learn of a database that is away within connectTimeoutMs, of one that is frozen within queryTimeoutMs.
 * Through a pooler, nothing is left to a session: pooler.ts.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { schema, logger, poolSize, connectTimeoutMs = 2000, queryTimeoutMs = 4500 } = options
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new TypeError(`Not a name for a schema: ${schema}`)
  const settings = {
    search_path: `${schema},public`,
    idle_in_transaction_session_timeout: '60s',
    statement_timeout: `${queryTimeoutMs + statementMarginMs}ms`,
    ...options.settings,
  }
  const pooled = throughPooler(options.url)
  const connection: pg.ClientConfig = {
    connectionString: options.url,
    ...(pooled ? { pipeline: true } : { options: serverOptions(settings) }),
    application_name: schema,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  }
  // Migrations, and the wait for those of another instance, take as long as they take.
  const patient = { ...settings, statement_timeout: '0' }
  const migrating = { ...connection, ...(pooled ? {} : { options: serverOptions(patient) }) }
  const openMigrating = () => {
    const client = new pg.Client(migrating)
    if (pooled) withoutSession(client, patient)
    return client
  }
  await untilReachable(options, () => applyMigrations(openMigrating, schema, options.migrationsDir, logger))
  const pool = new pg.Pool({
    ...connection,
    max: poolSize,
    query_timeout: queryTimeoutMs,
    idleTimeoutMillis: options.idleTimeoutMs ?? 60_000,
  })
  // Who has a connection for a while learns of its loss by the next statement; without a listener the process would end.
  pool.on('connect', (client) => client.on('error', () => undefined))
  if (pooled) {
    poolsOfPooler.add(pool)
    pool.on('connect', (client) => withoutSession(client, settings))
  }
  const { metrics, poolName: name = 'main' } = options
  const stopMeasuring = metrics && measurePool(metrics, { schema, name, pool })
  let closed: Promise<void> | undefined
  pool.on('error', (error) => {
    // The pool counts as ended before its last connections are: what cuts those now is no loss.
    if (closed === undefined) logger.warn({ err: error }, 'an idle database connection was lost')
  })
  await untilReachable(options, () => openSome(pool, options.openAtFirst ?? 0)).catch(async (error: unknown) => {
    await (closed = pool.end())
    throw error
  })
  return {
    pool,
    adapter: new PrismaPg(pool, { schema, statementNameGenerator: statementNames() }),
    check: readiness(pool),
    close: () => {
      stopMeasuring?.()
      return (closed ??= pool.end())
    },
  }
}

const poolsOfPooler = new WeakSet<pg.Pool>()

/** Whether what belongs to a session is lost between two transactions on these connections. */
export function isPooled(pool: pg.Pool): boolean {
  return poolsOfPooler.has(pool)
}

async function openSome(pool: pg.Pool, count: number): Promise<void> {
  const opened = await Promise.allSettled(Array.from({ length: count }, () => pool.connect()))
  for (const each of opened) if (each.status === 'fulfilled') each.value.release()
  const failed = opened.find((each) => each.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

function serverOptions(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/**
 * Does what the start of a service needs of its database; again and again while that can't be reached, until `signal` is
 * aborted. Any other fault is thrown.
 */
export async function untilReachable(
  options: Pick<DatabaseOptions, 'schema' | 'logger' | 'signal'>,
  attempt: () => Promise<void>,
): Promise<void> {
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
    try {
      return await attempt()
    } catch (error) {
      if (!isConnectionFailure(error) || isRefused(error) || options.signal?.aborted) throw error
      options.logger.warn({ err: error, schema: options.schema }, 'the database can not be reached yet, trying again')
      await pause(pauseMs, options.signal)
    }
  }
}

/** Names for Prisma's statements, so that connections keep them prepared; a bounded number, as filters vary without end. */
function statementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>()
  return ({ sql }) => {
    let name = names.get(sql)
    if (name === undefined && names.size < 200) names.set(sql, (name = `p${names.size}`))
    return name ?? ''
  }
}

/** Where a service's tables are, and what makes them. */
export type SchemaOptions = Required<Pick<DatabaseOptions, 'schema' | 'migrationsDir'>>

/** Applies what migrations are missing, and ends. Waits for a database that is not there yet until `signal` is aborted. */
export async function migrate(
  options: SchemaOptions & Pick<DatabaseOptions, 'url' | 'logger' | 'signal'>,
): Promise<void> {
  const database = await openDatabase({ ...options, poolSize: 1 })
  await database.close()
}

/** A check that asks the database for one round trip, at most 1 s; askers at the same time share one. */
function readiness(pool: pg.Pool): () => Promise<Check> {
  let asking: Promise<Check> | undefined
  return () => (asking ??= ask(pool).finally(() => (asking = undefined)))
}

/** What a server says that answers, by SQLSTATE (PostgreSQL documentation, appendix A). */
const refusals: Record<string, string> = {
  '28000': 'it refuses the account',
  '28P01': 'it refuses the password',
  '3D000': 'there is no such database',
  '53100': 'its disk is full',
  '53200': 'it has no memory left',
  '53300': 'it has no connection left',
  '57P03': 'it starts or stops',
}

function ask(pool: pg.Pool): Promise<Check> {
  const answer = pool.query({ text: 'SELECT 1', query_timeout: 1000 } as pg.QueryConfig).then(
    (): Check => ({ name: 'database', ok: true }),
    (error: { code?: string }): Check => ({
      name: 'database',
      ok: false,
      detail: refusals[error.code ?? ''] ?? 'not reachable',
    }),
  )
  return within(1000, answer, (): Check => ({ name: 'database', ok: false, detail: 'no answer within 1 s' }))
}

interface MeasuredPool {
  /** Of the service whose pool it is. */
  schema: string
  /** Tells it from other pools on the same schema. */
  name: string
  pool: pg.Pool
}

/** Tells of a pool with each reading of the metrics: its connections, and who waits for one. The answer ends that. */
function measurePool(registry: Registry, pool: MeasuredPool): () => void {
  const pools = poolsOf(registry)
  pools.add(pool)
  return () => pools.delete(pool)
}

const known = new WeakMap<Registry, Set<MeasuredPool>>()

/** One pair of gauges for all pools of a process. */
function poolsOf(registry: Registry): Set<MeasuredPool> {
  let pools = known.get(registry)
  if (pools === undefined) {
    known.set(registry, (pools = new Set()))
    makeGauges(registry, pools)
  }
  return pools
}

function makeGauges(registry: Registry, pools: Set<MeasuredPool>): void {
  const registers = [registry]
  new Gauge({
    name: 'database_connections',
    help: 'Connections to the database by pool: those at work, those that are idle, and the most that there may be',
    labelNames: ['schema', 'pool', 'state'],
    registers,
    collect() {
      this.reset()
      for (const { schema, name, pool } of pools) {
        this.set({ schema, pool: name, state: 'used' }, pool.totalCount - pool.idleCount)
        this.set({ schema, pool: name, state: 'idle' }, pool.idleCount)
        this.set({ schema, pool: name, state: 'max' }, pool.options.max)
      }
    },
  })
  new Gauge({
    name: 'database_waiting',
    help: 'Statements that wait for a connection, by pool',
    labelNames: ['schema', 'pool'],
    registers,
    collect() {
      this.reset()
      for (const { schema, name, pool } of pools) this.set({ schema, pool: name }, pool.waitingCount)
    },
  })
}
