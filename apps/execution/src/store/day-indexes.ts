import { holdLock } from '@automation/database'
import type { Logger } from '@automation/service'
import type pg from 'pg'
import { indexedText } from './word-search.ts'
import type { Connections } from './connections.ts'
import { executionSchema } from './pools.ts'

/** An index of one partition that is to be there. */
interface Missing {
  /** Of the partition, and of its index. */
  day: string
  name: string
  /** The index of the whole table that it becomes a part of, where there is one. */
  whole?: string
  /** What comes behind the name of the partition. */
  definition: string
  isMade: boolean
  /** Its making was cut off. */
  isBroken: boolean
}

// Newest first: those are what people look for.
const missing = `
SELECT c.relname AS day, c.relname || '_' || p.relname AS name, p.relname AS whole,
       regexp_replace(pg_get_indexdef(x.indexrelid), '^.*? USING ', 'USING ') AS definition,
       coalesce(kx.indisvalid, false) AS "isMade", NOT coalesce(kx.indisvalid, true) AS "isBroken"
  FROM pg_index x JOIN pg_class p ON p.oid = x.indexrelid
  JOIN pg_inherits i ON i.inhparent = x.indrelid JOIN pg_class c ON c.oid = i.inhrelid
  LEFT JOIN (pg_index kx JOIN pg_class k ON k.oid = kx.indexrelid)
    ON kx.indrelid = c.oid AND k.relname = c.relname || '_' || p.relname
 WHERE x.indrelid = 'executions'::regclass AND NOT x.indisvalid
   AND NOT EXISTS (SELECT FROM pg_inherits a JOIN pg_index ax ON ax.indexrelid = a.inhrelid
                    WHERE a.inhparent = x.indexrelid AND ax.indrelid = c.oid)
 ORDER BY c.relname DESC, p.relname`

/** Days with less are read without an index of their words. */
const leastBytes = 4 * 1024 * 1024

const withoutWords = `
SELECT c.relname AS day, c.relname || '_words' AS name, format('USING gin (${indexedText.replaceAll("'", "''").replaceAll('%', '%%')} %I.gin_trgm_ops)', n.nspname) AS definition,
       false AS "isMade", kx.indexrelid IS NOT NULL AS "isBroken"
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  JOIN pg_extension x ON x.extname = 'pg_trgm' JOIN pg_namespace n ON n.oid = x.extnamespace
  LEFT JOIN (pg_index kx JOIN pg_class k ON k.oid = kx.indexrelid)
    ON kx.indrelid = c.oid AND k.relname = c.relname || '_words'
 WHERE i.inhparent = 'executions'::regclass AND c.relname < 'executions_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')
   AND pg_relation_size(c.oid) >= $1 AND NOT coalesce(kx.indisvalid, false)
 ORDER BY c.relname DESC`

const patient = 600_000

/**
 * Makes the indexes of executions that migrations have left to be made, for each partition that was there before, and those
 * of the words of days that are over, so that runs write nothing for them: one replica at a time, and without holding up
 * anybody. Where the server lacks pg_trgm, words have no index. `least`: days with fewer bytes have none either.
 */
export async function makeDayIndexes(
  { pool }: Connections,
  logger: Logger,
  signal: AbortSignal,
  least = leastBytes,
): Promise<void> {
  const lock = await holdLock(pool, 'execution day indexes', { patient: true })
  if (lock === undefined) return
  const { client } = lock
  signal.addEventListener('abort', lock.release, { once: true })
  try {
    const left = (await client.query<Missing>(missing)).rows
    const words = (await client.query<Missing>(withoutWords, [least])).rows
    for (const one of [...left, ...words]) {
      await make(client, one)
      logger.info({ index: one.name }, 'an index of kept executions is made')
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', lock.release)
    lock.release()
  }
}

async function make(client: pg.PoolClient, { day, name, whole, definition, isMade, isBroken }: Missing): Promise<void> {
  const { schema } = executionSchema
  const steps = [
    ...(isBroken ? [`DROP INDEX CONCURRENTLY ${schema}.${name}`] : []),
    ...(isMade ? [] : [`CREATE INDEX CONCURRENTLY ${name} ON ${schema}.${day} ${definition}`]),
    // Of the words the planner knows then which are in many rows: those are found in the order of a list, not by the index.
    ...(whole === undefined ? [`ANALYZE ${day}`] : [`ALTER INDEX ${whole} ATTACH PARTITION ${name}`]),
  ]
  for (const text of steps) await client.query({ text, query_timeout: patient } as pg.QueryConfig)
}
