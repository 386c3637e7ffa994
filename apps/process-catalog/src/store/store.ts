import {
  databaseFailure,
  openDatabase,
  TeamShare,
  turnMs,
  type Database,
  type SchemaOptions,
} from '@automation/database'
import { unavailable } from '@automation/errors'
import type { Check, PartContext } from '@automation/service'
import type pg from 'pg'
import type { DefinitionLimits } from './quota.ts'
import { PrismaClient, type Prisma } from '../../prisma/generated/client.ts'

/** Where the catalog keeps its rows. */
export const catalogSchema: SchemaOptions = {
  schema: 'catalog',
  migrationsDir: new URL('../../prisma/migrations/', import.meta.url),
}

/** Tables as the Prisma client offers them, inside or outside a transaction. */
export type Rows = Prisma.TransactionClient

interface StoreConfig {
  databaseUrl: string
  databasePoolSize: number
  limits: DefinitionLimits
}

type StoreContext = Pick<PartContext, 'logger' | 'metrics'>

// What runs ask for never waits behind what people ask for.
const runsPoolSize = 4

/**
 * The catalog's database: opened by `open`, closed by `close`. All failures are Failures: `unavailable` while the
 * database is away or not open.
 */
export class Store {
  readonly #config: StoreConfig
  readonly #context: StoreContext
  readonly #share: TeamShare
  #open: { prisma: PrismaClient; main: Database; runs: Database } | undefined

  constructor(config: StoreConfig, context: StoreContext) {
    this.#config = config
    this.#context = context
    this.#share = new TeamShare(config.databasePoolSize)
  }

  /** Migrates and connects; waits for a database that is not there yet until `signal` is aborted. */
  async open(signal: AbortSignal): Promise<void> {
    await failing(() => this.#connect(signal))
    if (signal.aborted) await this.close()
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { databaseUrl: url, databasePoolSize: poolSize } = this.#config
    const { logger, metrics } = this.#context
    const shared = { url, schema: catalogSchema.schema, logger, metrics, signal }
    const main = await openDatabase({ ...shared, ...catalogSchema, poolSize, connectTimeoutMs: turnMs })
    const runs = await openDatabase({ ...shared, poolSize: runsPoolSize, poolName: 'runs' })
    this.#open = { prisma: new PrismaClient({ adapter: main.adapter }), main, runs }
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.prisma.$disconnect()
    await Promise.all([open?.main.close(), open?.runs.close()])
  }

  async check(): Promise<Check> {
    return this.#open?.main.check() ?? { name: 'database', ok: false, detail: 'not open' }
  }

  /** Reads, outside a transaction. */
  async read<T>(query: (rows: Rows) => Promise<T>): Promise<T> {
    return failing(() => query(this.#connected().prisma))
  }

  /** The same for a caller of this team, by its share of the connections. */
  readFor<T>(team: string, query: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#share.use(team, () => this.read(query))
  }

  /** Writes, in one transaction. */
  async write<T>(change: (rows: Rows) => Promise<T>): Promise<T> {
    return failing(() => this.#connected().prisma.$transaction(change, { maxWait: turnMs }))
  }

  /** The same for a caller of this team, by its share of the connections. */
  writeFor<T>(team: string, change: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#share.use(team, () => this.write(change))
  }

  /** One prepared statement on the pool that serves runs alone. */
  async forRuns<R extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<R[]> {
    return failing(async () => (await this.#connected().runs.pool.query<R>(statement)).rows)
  }

  /** One prepared statement beside the Prisma client, on its pool. */
  async statement<R extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<R[]> {
    return failing(async () => (await this.#connected().main.pool.query<R>(statement)).rows)
  }

  /** The same for a caller of this team, by its share of the connections. */
  statementFor<R extends pg.QueryResultRow>(team: string, statement: pg.QueryConfig): Promise<R[]> {
    return this.#share.use(team, () => this.statement<R>(statement))
  }

  /** How many things of a kind there may be. */
  get limits(): DefinitionLimits {
    return this.#config.limits
  }

  /** For what works on connections of its own. */
  get pool(): pg.Pool {
    return this.#connected().main.pool
  }

  #connected() {
    if (this.#open === undefined) throw unavailable('The service is starting or stopping, try again')
    return this.#open
  }
}

async function failing<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (thrown) {
    throw databaseFailure(thrown)
  }
}
