import { Status } from '@automation/contract/execution/v1/execution'
import { dayOf } from '../execution-id.ts'
import { waits } from './statuses.ts'
import { runningRuns, untrackedWaiting } from './tracked-runs.ts'
import type { Connections, Queries } from './connections.ts'

/** A run that waits for another gives its team's slot back, or its wish for one; false where it has none. */
export async function releaseSlot(pool: Queries, id: string): Promise<boolean> {
  const day = dayOf(id)
  const { rows } = await pool.query({
    name: `release-${day}`,
    text: `WITH old AS MATERIALIZED (
             SELECT id, team, slot FROM executions_${day}
              WHERE id = $1 AND status = ${Status.RUNNING} AND slot > 0 FOR UPDATE
           ), released AS (
             UPDATE executions_${day} e SET slot = 0 FROM old o WHERE e.id = o.id
           ), freed AS (
             UPDATE team_slots t
                SET running = t.running - (o.slot = 1)::integer, wanted = t.wanted - (o.slot = 2)::integer
               FROM old o WHERE t.team = o.team
           )
           SELECT FROM old`,
    values: [id],
  })
  return rows.length === 1
}

type Resumption = 'resumed' | 'waits' | 'ended'

/** Takes the slot again when the team has one; else notes that it is wanted, before any new run. */
export async function resumeSlot(pool: Queries, id: string, maxRunning: number): Promise<Resumption> {
  const day = dayOf(id)
  const { rows } = await pool.query<{ slot: number }>({
    name: `resume-${day}`,
    text: `WITH old AS MATERIALIZED (
             SELECT id, team, slot FROM executions_${day} WHERE id = $1 AND status = ${Status.RUNNING} FOR UPDATE
           ), counted AS MATERIALIZED (
             SELECT t.team, o.slot AS was, CASE WHEN o.slot = 1 OR t.running < $2::integer THEN 1 ELSE 2 END AS slot
               FROM team_slots t JOIN old o USING (team) FOR UPDATE OF t
           ), taken AS (
             UPDATE team_slots t
                SET running = t.running + (c.slot = 1 AND c.was <> 1)::integer,
                    wanted = t.wanted + (c.slot = 2)::integer - (c.was = 2)::integer
               FROM counted c WHERE t.team = c.team AND c.slot <> c.was
           ), marked AS (
             UPDATE executions_${day} e SET slot = c.slot FROM counted c WHERE e.id = $1 AND c.slot <> c.was
           )
           SELECT slot FROM counted`,
    values: [id, maxRunning],
  })
  if (rows[0] === undefined) return 'ended'
  return rows[0].slot === 1 ? 'resumed' : 'waits'
}

/** In a statement, the runs that count, of a team where one is given: rows of `team` and `slot`, which is -1 for those that wait. */
const counting = (ofTeam = '') => `
  SELECT team, slot FROM ${runningRuns} r ${ofTeam && `WHERE ${ofTeam}`}
  UNION ALL SELECT team, -1 FROM executions e WHERE ${waits} ${ofTeam && `AND ${ofTeam}`}
  UNION ALL SELECT team, -1 FROM (${untrackedWaiting}) w ${ofTeam && `WHERE ${ofTeam}`}`

const sums = `count(*) FILTER (WHERE slot = 1) AS running, count(*) FILTER (WHERE slot = 2) AS wanted,
              count(*) FILTER (WHERE slot = -1) AS queued`
const differs = `(t.running, t.wanted, t.queued) <> (coalesce(c.running, 0), coalesce(c.wanted, 0), coalesce(c.queued, 0))`

/**
 * Counts the slots anew, for what nobody thought of; gives how many teams had wrong ones. A team's count changes with its
 * runs, so in the one snapshot of a statement they agree, and only rows of teams where they do not are locked, one by one.
 */
export async function recountSlots(connections: Connections): Promise<number> {
  const { rows } = await connections.query<{ team: string }>(
    `SELECT t.team FROM team_slots t LEFT JOIN (SELECT team, ${sums} FROM (${counting()}) e GROUP BY team) c USING (team)
      WHERE ${differs} ORDER BY t.team`,
  )
  let wrong = 0
  for (const { team } of rows) wrong += await recountTeam(connections, team)
  return wrong
}

/** The same of one team; gives whether it was wrong, as 0 or 1. */
export function recountTeam(connections: Connections, team: string): Promise<number> {
  return connections.transaction(async (client) => {
    // A statement of its own, so that the count below sees all that was committed before the lock.
    await client.query('SELECT FROM team_slots WHERE team = $1 FOR UPDATE', [team])
    const { rowCount } = await client.query(
      `UPDATE team_slots t SET running = c.running, wanted = c.wanted, queued = c.queued
         FROM (SELECT ${sums} FROM (${counting('team = $1')}) e) c WHERE t.team = $1 AND ${differs}`,
      [team],
    )
    return rowCount ?? 0
  })
}

/** Runs of a team that hold a slot and those that wait. */
export async function readTeamSlots(pool: Queries, team: string): Promise<{ running: number; queued: number }> {
  const { rows } = await pool.query<{ running: number; queued: number }>({
    name: 'team-slots',
    text: 'SELECT running, queued FROM team_slots WHERE team = $1',
    values: [team],
  })
  return rows[0] ?? { running: 0, queued: 0 }
}

/** Runs that hold a slot and runs that wait, over all teams. */
export async function readSlotSums(pool: Queries): Promise<{ running: number; queued: number }> {
  const { rows } = await pool.query<{ running: number; queued: number }>(
    'SELECT coalesce(sum(running), 0)::integer AS running, coalesce(sum(queued), 0)::integer AS queued FROM team_slots',
  )
  return rows[0]!
}
