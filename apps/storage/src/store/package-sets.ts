import type { Store } from './store.ts'
import { dropBlobs, makeCurrent, type Writing } from './uploads.ts'
import { addUsage, lockUsage, storageFull } from './usage.ts'

/** Names a set as it was installed for a runtime. */
export interface SetName {
  team: string
  /** A UUID. */
  key: string
  runtime: string
}

export interface SetRow {
  blobId: string
  /** In bytes. */
  size: number
  /** SHA-256. */
  digest: Buffer
}

/** Blobs of sets have this name; no object has it. */
export const setBlobName = ''

/** Undefined where nobody has stored it for this runtime. */
export async function readSet(store: Store, { team, key, runtime }: SetName): Promise<SetRow | undefined> {
  const [row] = await store.query<{ blobId: string; size: string; digest: Buffer }>({
    name: 'read_package_set',
    text: `SELECT blob_id AS "blobId", size, digest FROM package_sets WHERE team = $1 AND key = $2 AND runtime = $3`,
    values: [team, key, runtime],
  })
  return row && { ...row, size: Number(row.size) }
}

/** Whether somebody has stored it for some runtime. */
export async function hasSet(store: Store, team: string, key: string): Promise<boolean> {
  const rows = await store.query({
    name: 'has_package_set',
    text: 'SELECT FROM package_sets WHERE team = $1 AND key = $2 LIMIT 1',
    values: [team, key],
  })
  return rows.length > 0
}

/**
 * The content is stored: it is the set from now on. False where another one was there first. Failures: storage_full;
 * unavailable where the upload has been given up.
 */
export async function finishSet(
  store: Store,
  { key, runtime }: SetName,
  { blobId, team }: Writing,
  { size, digest }: Omit<SetRow, 'blobId'>,
  teamMaxBytes: number,
): Promise<boolean> {
  return store.transactionFor(team, async (client) => {
    const used = await lockUsage(client, team)
    const added = size - (await makeCurrent(client, blobId, size))
    if (added > 0 && used + added > teamMaxBytes) throw storageFull(teamMaxBytes)
    const { rowCount } = await client.query({
      name: 'put_package_set',
      text: `INSERT INTO package_sets (team, key, runtime, blob_id, size, digest) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT DO NOTHING`,
      values: [team, key, runtime, blobId, size, digest],
    })
    await addUsage(client, team, added)
    if (rowCount === 1) return true
    await dropBlobs(client, team, [blobId])
    return false
  })
}

/** A set with this content is there no more; its blob goes with the next sweep. */
export async function dropSet(store: Store, { team, key, runtime }: SetName, blobId: string): Promise<void> {
  await store.transaction(async (client) => {
    await lockUsage(client, team)
    const { rowCount } = await client.query({
      name: 'drop_package_set',
      text: 'DELETE FROM package_sets WHERE team = $1 AND key = $2 AND runtime = $3 AND blob_id = $4',
      values: [team, key, runtime, blobId],
    })
    if (rowCount === 1) await dropBlobs(client, team, [blobId])
  })
}

/** These are in use. */
export async function keepSets(store: Store, sets: { team: string; key: string }[]): Promise<void> {
  await store.query({
    name: 'keep_package_sets',
    text: `UPDATE package_sets SET used_at = now()
           FROM unnest($1::text[], $2::uuid[]) AS kept (team, key)
           WHERE package_sets.team = kept.team AND package_sets.key = kept.key`,
    values: [sets.map(({ team }) => team), sets.map(({ key }) => key)],
  })
}

/** The time of the database. */
export async function timeOf(store: Store): Promise<Date> {
  const [row] = await store.query<{ now: Date }>({ name: 'time_of', text: 'SELECT now()' })
  return row!.now
}

/** A list of sets in use that began then was whole. */
export async function noteList(store: Store, beganAt: Date): Promise<void> {
  await store.query({
    name: 'note_package_set_list',
    text: `INSERT INTO package_set_lists (began_at) VALUES ($1)
           ON CONFLICT (is_only) DO UPDATE SET began_at = greatest(package_set_lists.began_at, excluded.began_at)`,
    values: [beganAt],
  })
}

/** Sets that were in no list for so long, counted to the last whole one: while none comes, nothing gets older. */
export async function unusedSets(
  store: Store,
  keepMs: number,
  limit: number,
): Promise<(SetName & { blobId: string; size: number })[]> {
  const rows = await store.query<SetName & { blobId: string; size: string }>({
    name: 'unused_package_sets',
    text: `SELECT team, key, runtime, blob_id AS "blobId", size FROM package_sets
           WHERE used_at < (SELECT began_at FROM package_set_lists) - $1 * interval '1 ms' ORDER BY used_at LIMIT $2`,
    values: [keepMs, limit],
  })
  return rows.map((row) => ({ ...row, size: Number(row.size) }))
}
