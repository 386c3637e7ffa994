import type { Store } from './store.ts'

// Firings go behind their schedules.
const tables = ['schedules', 'processes', 'team_zones', 'team_changes', 'team_change_counts']

/** Removes all that is kept of a team, but for audit records that the catalog does not have yet. */
export async function removeTeam(store: Store, team: string): Promise<{ removed: number; done: boolean }> {
  return store.transaction(async (client) => {
    let removed = 0
    for (const table of tables)
      removed += (await client.query(`DELETE FROM ${table} WHERE team = $1`, [team])).rowCount ?? 0
    const { rows } = await client.query<{ more: boolean }>(
      'SELECT EXISTS (SELECT FROM audit_outbox WHERE team = $1) AS more',
      [team],
    )
    return { removed, done: !rows[0]!.more }
  })
}
