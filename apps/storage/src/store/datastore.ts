import { countedUpTo, type Window } from '@automation/database'
import type { Store } from './store.ts'

/** JSON text; undefined when the key is not there. */
export async function readValue(store: Store, team: string, key: string): Promise<string | undefined> {
  const [row] = await store.queryFor<{ value: string }>(team, {
    name: 'read_value',
    text: 'SELECT value FROM datastore WHERE team = $1 AND key = $2',
    values: [team, key],
  })
  return row?.value
}

/** False where the team has `maxKeys` others already. New keys of a team come one after the other, so that each is counted. */
export async function writeValue(
  store: Store,
  { team, key, value }: { team: string; key: string; value: string },
  maxKeys: number,
): Promise<boolean> {
  const changed = await store.queryFor(team, {
    name: 'change_value',
    text: 'UPDATE datastore SET value = $3, updated_at = now() WHERE team = $1 AND key = $2 RETURNING key',
    values: [team, key, value],
  })
  if (changed.length > 0) return true
  return store.transactionFor(team, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`datastore of ${team}`])
    const { rowCount } = await client.query({
      name: 'new_value',
      text: `INSERT INTO datastore (team, key, value, updated_at)
             SELECT $1, $2, $3, now() WHERE (SELECT count(*) FROM datastore WHERE team = $1 AND key <> $2) < $4
             ON CONFLICT (team, key) DO UPDATE SET value = excluded.value, updated_at = now()`,
      values: [team, key, value, maxKeys],
    })
    return rowCount === 1
  })
}

/** Whether it was there. */
export async function deleteValue(store: Store, team: string, key: string): Promise<boolean> {
  const rows = await store.queryFor(team, {
    name: 'delete_value',
    text: 'DELETE FROM datastore WHERE team = $1 AND key = $2 RETURNING key',
    values: [team, key],
  })
  return rows.length > 0
}

/** Keys with this beginning, in their order. */
export async function listKeys(store: Store, team: string, prefix: string): Promise<string[]> {
  const rows = await store.queryFor<{ key: string }>(team, {
    name: 'list_keys',
    text: 'SELECT key FROM datastore WHERE team = $1 AND key >= $2 AND starts_with(key, $2) ORDER BY key',
    values: [team, prefix],
  })
  return rows.map(({ key }) => key)
}

/** A key as lists show it. */
export interface EntryRow {
  key: string
  /** Of the value, in bytes. */
  size: number
  updatedAt: Date
  /** JSON text; null where it is not small. */
  value: string | null
}

const shownBytes = 1024

/** A page of keys with this beginning, in their order. */
export async function listEntries(
  store: Store,
  team: string,
  prefix: string,
  { skip, take }: Window,
): Promise<{ rows: EntryRow[]; total: number }> {
  const found = 'FROM datastore WHERE team = $1 AND key >= $2 AND starts_with(key, $2)'
  const [rows, [count]] = await Promise.all([
    store.queryFor<EntryRow>(team, {
      name: 'list_entries',
      text: `SELECT key, octet_length(value) AS size, updated_at AS "updatedAt",
                    CASE WHEN octet_length(value) <= ${shownBytes} THEN value END AS value
             ${found} ORDER BY key LIMIT $3::bigint OFFSET $4::bigint`,
      values: [team, prefix, take, skip],
    }),
    store.queryFor<{ total: number }>(team, {
      name: 'count_entries',
      text: `SELECT count(*)::integer AS total FROM (SELECT ${found} LIMIT $3) counted`,
      values: [team, prefix, countedUpTo],
    }),
  ])
  return { rows, total: count?.total ?? 0 }
}
