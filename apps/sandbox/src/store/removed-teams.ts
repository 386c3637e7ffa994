import { active } from './rows.ts'
import type { Store } from './store.ts'

/** Removes a team's sandboxes that have ended; with the last of them, all else that is kept of it. */
export async function removeEnded(store: Store, team: string): Promise<{ removed: number; done: boolean }> {
  return store.transaction(async (client) => {
    const { rowCount } = await client.query(`DELETE FROM sandboxes WHERE team = $1 AND NOT (${active})`, [team])
    const { rows } = await client.query<{ more: boolean }>(
      `SELECT EXISTS (SELECT FROM sandboxes WHERE team = $1) OR EXISTS (SELECT FROM audit_outbox WHERE team = $1) AS more`,
      [team],
    )
    if (rows[0]!.more) return { removed: rowCount ?? 0, done: false }
    const changes = await client.query('DELETE FROM team_changes WHERE team = $1', [team])
    await client.query('DELETE FROM team_change_counts WHERE team = $1', [team])
    return { removed: (rowCount ?? 0) + (changes.rowCount ?? 0), done: true }
  })
}
