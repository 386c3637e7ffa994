import { deleteSomeOf } from '@automation/database'
import type { Store } from './store.ts'
import type { DueBlob } from './sweep.ts'
import { lockUsage } from './usage.ts'

/** A step must end within a statement's time, and triggers write the row of a team again for each row that goes. */
const rowsAtOnce = 1000
/** Each goes from the store by itself. */
const blobsAtOnce = 200

const ofTeam = 'team = $1'

const belongings = {
  upload_parts: 'upload_id IN (SELECT id FROM uploads WHERE team = $1)',
  uploads: ofTeam,
  objects: ofTeam,
  package_sets: ofTeam,
  datastore: ofTeam,
}

/**
 * Removes some of the rows of a team that name contents, and of its values; gives how many. Where none were left, some of its contents
 * are due from then on, also those that are being written: their writers find out.
 */
export async function dropTeam(store: Store, team: string): Promise<{ removed: number; due: DueBlob[] }> {
  return store.transaction(async (client) => {
    await lockUsage(client, team)
    let removed = 0
    for (const [table, whose] of Object.entries(belongings)) {
      removed += (await client.query(deleteSomeOf(table, whose, rowsAtOnce - removed), [team])).rowCount ?? 0
    }
    if (removed > 0) return { removed, due: [] }
    const { rows } = await client.query<DueBlob>(
      `UPDATE blobs SET state = 3, due_at = now()
        WHERE id = ANY (ARRAY (SELECT id FROM blobs WHERE team = $1 LIMIT $2)) RETURNING id, team`,
      [team, blobsAtOnce],
    )
    return { removed, due: rows }
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
