import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Sample } from '../statistics.ts'

/** A connection to the PostgreSQL of a system that runs, as its owner, with these settings. */
export async function connectTo(dataDir: string, options?: string): Promise<pg.Client> {
  const [password, postmaster] = await Promise.all([
    readFile(join(dataDir, 'postgres/password'), 'utf8'),
    readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'),
  ])
  const client = new pg.Client({
    host: '127.0.0.1',
    port: Number(postmaster.split('\n')[3]),
    user: 'postgres',
    database: 'postgres',
    password: password.trim(),
    options,
  })
  await client.connect()
  return client
}

/** What PostgreSQL's log says of the work between two places. Images of whole pages, which follow checkpoints, are told apart. */
const records = `
WITH records AS (SELECT * FROM pg_get_wal_stats($1, $2, true)), blocks AS (
  SELECT DISTINCT start_lsn, record_type FROM pg_get_wal_block_info($1, $2, false) b
    JOIN pg_class c ON c.relfilenode = b.relfilenode
   WHERE resource_manager = 'Heap' AND record_type IN ('UPDATE', 'HOT_UPDATE') AND c.relname ~ '^executions_[0-9]{8}$'
)
SELECT sum(count) FILTER (WHERE name = 'Transaction/COMMIT')::float8 AS commits,
       sum(count) FILTER (WHERE name ~ '^Heap/(INSERT|UPDATE|HOT_UPDATE|DELETE)')::float8 AS tuples,
       sum(count) FILTER (WHERE name ~ '^(Btree/INSERT_LEAF|Btree/INSERT_POST|Btree/SPLIT|Gin/INSERT)')::float8 AS entries,
       sum(record_size)::float8 AS bytes, sum(fpi_size)::float8 AS images,
       (SELECT 100 * count(*) FILTER (WHERE record_type = 'HOT_UPDATE')::float8 / nullif(count(*), 0) FROM blocks) AS hot
  FROM (SELECT "resource_manager/record_type" AS name, count, record_size, fpi_size FROM records) r`

/**
 * What a run costs in PostgreSQL: transactions that write, tuples, index entries and bytes of its write-ahead log, all that
 * follows a run (relays, audit) included, and how many of a hundred changes of a run's row were HOT.
 */
export async function writtenBy(dataDir: string, work: () => Promise<number>): Promise<Sample> {
  const client = await connectTo(dataDir)
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_walinspect')
    const lsn = async () => {
      const { rows } = await client.query<{ lsn: string }>('SELECT pg_current_wal_flush_lsn() AS lsn')
      return rows[0]!.lsn
    }
    const from = await lsn()
    const runs = await work()
    // Relays come behind.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const { rows } = await client.query<Record<'commits' | 'tuples' | 'entries' | 'bytes' | 'images' | 'hot', number>>(
      records,
      [from, await lsn()],
    )
    const { commits, tuples, entries, bytes, images, hot } = rows[0]!
    return {
      commitsPerRun: commits / runs,
      tuplesPerRun: tuples / runs,
      indexEntriesPerRun: entries / runs,
      walBytesPerRun: bytes / runs,
      pageImageBytesPerRun: images / runs,
      hotPercent: hot,
    }
  } finally {
    await client.end()
  }
}
