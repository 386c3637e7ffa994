import { deleteSomeOf } from '@automation/database'
import { deleteSomeSchedules, removeSomeFirings } from './removal.ts'
import type { Store } from './store.ts'

// Behind schedules, whose deletions write changes.
const tables = ['processes', 'team_zones', 'team_changes', 'team_change_counts']
const atOnce = 1000

/** Removes some of what is kept of a team, but for audit records that the catalog does not have yet; tells whether nothing is left. */
export async function removeTeam(store: Store, team: string): Promise<{ removed: number; done: boolean }> {
  const steps = [
    () => deleteSomeSchedules(store, { team }, atOnce),
    () => removeSomeFirings(store, team),
    ...tables.map((table) => () => deleteSome(store, table, team)),
  ]
  for (const step of steps) {
    const removed = await step()
    if (removed > 0) return { removed, done: false }
  }
  const left = ['schedules', 'deleted_schedules', ...tables, 'audit_outbox']
  const [row] = await store.query<{ more: boolean }>({
    text: `SELECT ${left.map((table) => `EXISTS (SELECT FROM ${table} WHERE team = $1)`).join(' OR ')} AS more`,
    values: [team],
  })
  return { removed: 0, done: row?.more === false }
}

async function deleteSome(store: Store, table: string, team: string): Promise<number> {
  const deleted = await store.query({
    text: `${deleteSomeOf(table, 'team = $1', atOnce)} RETURNING 1`,
    values: [team],
  })
  return deleted.length
}
