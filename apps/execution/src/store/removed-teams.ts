import { deleteSomeOf } from '@automation/database'
import { Status } from '@automation/contract/execution/v1/execution'
import { among, livingStatuses } from './statuses.ts'
import type { Queries } from './connections.ts'
import { otherTableNames } from './team-moves.ts'

/** Executions of a team that have not ended, or only those of them that run; at most 1000. */
export async function readLivingOfTeam(pool: Queries, team: string, alsoWaiting: boolean): Promise<string[]> {
  const statuses = alsoWaiting ? livingStatuses : among([Status.DEQUEUED, Status.RUNNING])
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM executions WHERE team = $1 AND status IN ${statuses} ORDER BY id LIMIT 1000`,
    [team],
  )
  return rows.map(({ id }) => id)
}

/** Whether a team has executions, or audit records that the catalog does not have yet. */
export async function hasMoreOfTeam(pool: Queries, team: string): Promise<boolean> {
  const { rows } = await pool.query<{ more: boolean }>(
    `SELECT EXISTS (SELECT FROM executions WHERE team = $1) OR EXISTS (SELECT FROM audit_outbox WHERE team = $1) AS more`,
    [team],
  )
  return rows[0]!.more
}

const besides = [...otherTableNames, 'team_slots', 'team_pools']

/** No team's slug: a runner that was a removed team's becomes nobody else's, whoever may have its key. */
const removedTeam = 'REMOVED'

// One that can is asked to end: it names its team again with each renewal.
const unbind = `
UPDATE sessions SET team = $2, drain_asked_at = CASE WHEN can_drain THEN coalesce(drain_asked_at, now()) ELSE drain_asked_at END
 WHERE team = $1`

// A statement has to end in time, and keys of starts may be millions.
const rowsAtOnce = 5000

/** Removes some of what is kept of a team without executions; gives how many rows. */
export async function removeRestOfTeam(pool: Queries, team: string): Promise<number> {
  let removed = 0
  for (const table of besides)
    removed += (await pool.query(deleteSomeOf(table, 'team = $1', rowsAtOnce), [team])).rowCount ?? 0
  return removed + ((await pool.query(unbind, [team, removedTeam])).rowCount ?? 0)
}
