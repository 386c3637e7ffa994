import { openDatabase, type Database, type SchemaOptions } from '@automation/database'
import type { PartContext } from '@automation/service'
import { Connections } from './connections.ts'

/** Connections by what may wait for what, at most 22 at a time: lists never share a pool with the writes of a run. */
export interface Pools {
  /** The batches that start, claim and end runs: two connections each, which nothing else can take. */
  batches: Connections
  /** Whatever else belongs to the path of a run: keyed starts, kills, sessions. */
  hot: Connections
  /** Starts that carry much, which take seconds. */
  heavy: Connections
  /** Log chunks: these commits wait for no disk. */
  logs: Connections
  /** Lists, single reads and the work in the background. */
  reads: Connections
  /** One connection for each consumer of lifecycle events; those commits wait for no disk. */
  events: Connections
  check: Database['check']
  close(): Promise<void>
}

/** Where execution keeps its rows. */
export const executionSchema: SchemaOptions = {
  schema: 'execution',
  migrationsDir: new URL('../../prisma/migrations', import.meta.url),
}

/** Every statement goes by a key; a plan made while a table was empty must not become a scan of a full one. */
const byKey = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
}

/** How long a statement may go on in the database, also after its caller gave up on it. */
export const statementTimeoutMs = 4000

type PoolsContext = Pick<PartContext, 'logger' | 'metrics'>

/** Opens the schema, applies what migrations are missing, and gives the pools. Waits for a database that is not there yet. */
export async function openPools(url: string, context: PoolsContext, signal: AbortSignal): Promise<Pools> {
  const { logger, metrics } = context
  const common = { url, schema: executionSchema.schema, logger, metrics, signal }
  const settings = { ...byKey, statement_timeout: `${statementTimeoutMs}ms` }
  // Kept open when idle: a connection learns of all the partitions and their indexes before its first plan.
  const quick = { ...common, settings, connectTimeoutMs: 1000, idleTimeoutMs: 0 }
  const batches = await openDatabase({ ...quick, ...executionSchema, poolName: 'batches', poolSize: 6, openAtFirst: 6 })
  const [hot, heavy, logs, reads, events] = await Promise.all([
    // Who kills many runs at once waits for the ones before.
    openDatabase({ ...quick, poolName: 'hot', poolSize: 5, openAtFirst: 3, connectTimeoutMs: 2000 }),
    openDatabase({ ...common, settings, poolName: 'heavy', poolSize: 2, connectTimeoutMs: 2000 }),
    openDatabase({ ...common, poolName: 'logs', poolSize: 1, settings: { ...byKey, synchronous_commit: 'off' } }),
    openDatabase({
      ...common,
      poolName: 'reads',
      poolSize: 4,
      openAtFirst: 2,
      settings: { jit: 'off' },
      idleTimeoutMs: 0,
    }),
    // A cursor that is lost in a crash only lets events come again.
    openDatabase({
      ...common,
      poolName: 'events',
      // Three consumers have one each; through a pooler the lock of each has another.
      poolSize: 20,
      settings: { ...byKey, synchronous_commit: 'off' },
      queryTimeoutMs: 60_000,
    }),
  ])
  return {
    batches: new Connections(batches.pool),
    hot: new Connections(hot.pool),
    heavy: new Connections(heavy.pool),
    logs: new Connections(logs.pool),
    reads: new Connections(reads.pool),
    events: new Connections(events.pool),
    check: reads.check,
    close: async () => {
      await Promise.all([batches, hot, heavy, logs, reads, events].map((pool) => pool.close()))
    },
  }
}
