import type { Status } from '@automation/contract/execution/v1/execution'
import { mayFollow } from '../src/status.ts'
import type { System } from './system.ts'

interface Row {
  id: string
  status: Status
  team: string
  sequence: number
  events: { sequence: number; status: Status; team: string; position: string }[]
}

/** What must hold whenever nothing is on its way: gives what does not, in words. */
export async function brokenInvariants(system: System): Promise<string[]> {
  const broken: string[] = []
  const rows = await system.rows<Row>(
    `SELECT e.id, e.status, e.team, e.sequence,
            coalesce((SELECT json_agg(json_build_object('sequence', t.sequence, 'status', t.status, 'team', t.team,
                        'position', t.position::text) ORDER BY t.sequence)
               FROM timeline_events t WHERE t.execution_id = e.id), '[]') AS events
       FROM executions e`,
  )
  for (const { id, status, team, sequence, events } of rows) {
    if (events.length !== sequence || events.some((event, index) => event.sequence !== index + 1))
      broken.push(`${id}: the sequence of its events has holes`)
    if (events.at(-1)?.status !== status) broken.push(`${id}: its last event is not its status`)
    let before: Status = 0
    for (const event of events) {
      if (!mayFollow(before, event.status)) broken.push(`${id}: ${before} → ${event.status}`)
      before = event.status
    }
    if (events.some((event) => event.team !== team)) broken.push(`${id}: an event of another team`)
    if (events.some((event, index) => index > 0 && BigInt(event.position) < BigInt(events[index - 1]!.position)))
      broken.push(`${id}: its events' positions do not rise`)
  }
  const counts = await system.rows<{ team: string }>(
    `SELECT s.team FROM team_slots s LEFT JOIN executions e ON e.team = s.team
      GROUP BY s.team, s.running, s.wanted, s.queued
     HAVING s.running <> count(e.id) FILTER (WHERE e.status = 4 AND e.slot = 1)
         OR s.wanted <> count(e.id) FILTER (WHERE e.status = 4 AND e.slot = 2)
         OR s.queued <> count(e.id) FILTER (WHERE e.status IN (1, 2))`,
  )
  for (const { team } of counts) broken.push(`${team}: its slots are counted wrongly`)
  const unknown = await system.rows<{ id: string; status: Status }>(
    `SELECT e.id, e.status FROM executions e CROSS JOIN tracking m
      WHERE CASE WHEN e.status IN (1, 2, 4) THEN NOT e.tracked AND NOT EXISTS (
                        SELECT FROM timeline_events t WHERE t.execution_id = e.id AND t.sequence = e.sequence
                           AND (t.xid >= m.below OR t.xid = ANY (m.open)))
                 ELSE e.tracked OR e.released_at IS NOT NULL END`,
  )
  for (const { id, status } of unknown) broken.push(`${id}: with status ${status} it is tracked, or not, wrongly`)
  return broken
}
