import type { Store } from './store.ts'
import type { DueBlob } from './sweep.ts'
import { lockUsage } from './usage.ts'

/**
 * Removes the rows of a team that name contents, and its values. Its contents are due from then on, also those that are
 * being written: their writers find out. Gives how many rows there were.
 */
export async function dropTeam(store: Store, team: string): Promise<number> {
  return store.transaction(async (client) => {
    await lockUsage(client, team)
    const removing = [
      'DELETE FROM upload_parts USING uploads WHERE upload_id = uploads.id AND uploads.team = $1',
      'DELETE FROM uploads WHERE team = $1',
      'DELETE FROM objects WHERE team = $1',
      'DELETE FROM package_sets WHERE team = $1',
      'DELETE FROM datastore WHERE team = $1',
    ]
    let removed = 0
    for (const text of removing) removed += (await client.query(text, [team])).rowCount ?? 0
    await client.query('UPDATE blobs SET state = 3, due_at = now(), counted = 0 WHERE team = $1', [team])
    await client.query('UPDATE usage SET bytes = 0 WHERE team = $1', [team])
    return removed
  })
}

/** Some of a team's contents that are due. */
export async function dueBlobsOfTeam(store: Store, team: string, limit: number): Promise<DueBlob[]> {
  return store.query<DueBlob>({
    name: 'due_blobs_of_team',
    text: 'SELECT id, team FROM blobs WHERE team = $1 AND state = 3 LIMIT $2',
    values: [team, limit],
  })
}

/** Removes the last row of a team where it has no contents; whether nothing is left, not even audit records to be told. */
export async function forgetTeam(store: Store, team: string): Promise<boolean> {
  await store.query({
    name: 'forget_team',
    text: 'DELETE FROM usage WHERE team = $1 AND NOT EXISTS (SELECT FROM blobs WHERE team = $1)',
    values: [team],
  })
  const [row] = await store.query<{ more: boolean }>({
    name: 'more_of_team',
    text: `SELECT EXISTS (SELECT FROM usage WHERE team = $1) OR EXISTS (SELECT FROM blobs WHERE team = $1)
             OR EXISTS (SELECT FROM audit_outbox WHERE team = $1) AS more`,
    values: [team],
  })
  return !row!.more
}
