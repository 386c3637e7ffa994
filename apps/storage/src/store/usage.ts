import { Failure } from '@automation/errors'
import type pg from 'pg'
import { countedUpTo } from '@automation/database'
import type { Store } from './store.ts'

/**
 * Locks what a team uses, for the rest of the transaction; always before its blobs and objects, so that no two wait for
 * each other.
 */
export async function lockUsage(client: pg.PoolClient, team: string): Promise<number> {
  await client.query({
    name: 'usage_row',
    text: 'INSERT INTO usage (team, bytes) VALUES ($1, 0) ON CONFLICT (team) DO NOTHING',
    values: [team],
  })
  const { rows } = await client.query<{ bytes: string }>({
    name: 'lock_usage',
    text: 'SELECT bytes FROM usage WHERE team = $1 FOR UPDATE',
    values: [team],
  })
  return Number(rows[0]?.bytes ?? 0)
}

/** Adds to what a team uses, or takes from it. */
export async function addUsage(client: pg.PoolClient, team: string, bytes: number): Promise<void> {
  if (bytes === 0) return
  await client.query({
    name: 'add_usage',
    text: 'UPDATE usage SET bytes = bytes + $2 WHERE team = $1',
    values: [team, bytes],
  })
}

/** The objects of a team may not be larger together. */
export function storageFull(teamMaxBytes: number): Failure {
  return new Failure('too_large', 'storage_full', `The objects of the team may have ${teamMaxBytes} bytes together`)
}

/** What a team keeps. */
export interface Kept {
  bytes: number
  objects: number
  /** Of uploads that are not completed. */
  parts: number
  /** Up to `countedUpTo`. */
  datastoreKeys: number
}

/** What a team keeps now. */
export async function readUsage(store: Store, team: string): Promise<Kept> {
  const [row] = await store.queryFor<Record<keyof Kept, string>>(team, {
    name: 'usage_of_team',
    text: `SELECT coalesce((SELECT bytes FROM usage WHERE team = $1), 0) AS bytes,
                  coalesce((SELECT objects FROM usage WHERE team = $1), 0) AS objects,
                  (SELECT coalesce(sum(parts), 0) FROM uploads WHERE team = $1 AND completed_at IS NULL) AS parts,
                  (SELECT count(*) FROM (SELECT FROM datastore WHERE team = $1 LIMIT ${countedUpTo}) counted) AS "datastoreKeys"`,
    values: [team],
  })
  const { bytes, objects, parts, datastoreKeys } = row!
  return {
    bytes: Number(bytes),
    objects: Number(objects),
    parts: Number(parts),
    datastoreKeys: Number(datastoreKeys),
  }
}
