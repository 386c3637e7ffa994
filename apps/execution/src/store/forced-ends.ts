import { outboxColumns } from '@automation/audit'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { Status } from '@automation/contract/execution/v1/execution'
import type { Member } from '@automation/rpc'
import { v7 } from 'uuid'
import { dayOf } from '../execution-id.ts'
import { mayFollow } from '../status.ts'
import { waitingStatuses } from './statuses.ts'
import { lastWord, lastWordBody } from './log-pages.ts'
import type { Queries } from './connections.ts'

/** An end that does not come from the run itself. */
export interface ForcedEnd {
  ids: string[]
  /** Only executions of this team; absent: whichever. */
  team?: string
  from: Status[]
  to: Status.KILLED | Status.ERROR
  explanation: string
  /** Who wanted it, which is kept with each; absent: nobody, or it follows from something else that is kept. */
  by?: Member
}

interface ForcedRow {
  id: string
  team: string
  pool: string
  sessionId: string | null
  was: Status
  /** Of who started it. */
  traceparent: string | null
}

const killed = `, records AS (
  INSERT INTO audit_outbox (${outboxColumns})
  SELECT a.id, e.team, ${AuditType.EXECUTION}, 'killed', e.id::text, $6, $8::text, $9::text
    FROM ended e JOIN unnest($1::uuid[], $7::uuid[]) AS a(execution_id, id) ON a.execution_id = e.id
)`

const statement = (day: string, records: string) => `
WITH old AS MATERIALIZED (
  SELECT id, status, slot FROM executions_${day}
   WHERE id = ANY ($1::uuid[]) AND status = ANY ($2::smallint[]) AND ($3::text IS NULL OR team = $3)
   ORDER BY id FOR UPDATE
), ended AS (
  UPDATE executions_${day} e
     SET status = $4, sequence = e.sequence + 1, explanation = $5, updated_by = coalesce($6, e.updated_by), updated_at = now(),
         tracked = false, released_at = NULL
    FROM old o WHERE e.id = o.id
  RETURNING e.id, e.team, e.pool, e.process_id, e.session_id, e.sequence, o.status AS was, o.slot, e.traceparent
), freed AS (
  UPDATE team_slots t SET running = t.running - c.held, wanted = t.wanted - c.wanted, queued = t.queued - c.queued
    FROM (SELECT team, count(*) FILTER (WHERE was = ${Status.RUNNING} AND slot = 1) AS held,
                 count(*) FILTER (WHERE was = ${Status.RUNNING} AND slot = 2) AS wanted, count(*) FILTER (WHERE was IN ${waitingStatuses}) AS queued
            FROM ended GROUP BY team ORDER BY team) c
   WHERE t.team = c.team
), events AS (
  INSERT INTO timeline_events (execution_id, sequence, status, at, explanation, team, process_id)
  SELECT id, sequence, $4, now(), $5, team, process_id FROM ended
), word AS (
  INSERT INTO log_chunks (execution_id, first, lines, body) SELECT id, ${lastWord}, 1, ${lastWordBody('$5::text')} FROM ended
  ON CONFLICT (execution_id, first) DO UPDATE SET lines = EXCLUDED.lines, body = EXCLUDED.body
)${records}
SELECT id, team, pool, session_id AS "sessionId", was, traceparent FROM ended`

/** Ends what is still in one of the statuses `from`, day by day; gives what was ended by this call. */
export async function forceEnds(pool: Queries, end: ForcedEnd): Promise<ForcedRow[]> {
  const days = Map.groupBy(end.ids, dayOf)
  const rows: ForcedRow[] = []
  for (const [day, ids] of days) {
    const { from, team, to, explanation, by } = end
    const values = [
      ids,
      from.filter((status) => mayFollow(status, to)),
      team ?? null,
      to,
      explanation,
      by?.name ?? null,
    ]
    const recorded = by && [ids.map(() => v7()), by.initiatedBy ?? null, by.ip ?? null]
    const { rows: ended } = await pool.query<ForcedRow>({
      name: `force-${recorded ? 'recorded-' : ''}${day}`,
      text: statement(day, recorded ? killed : ''),
      values: [...values, ...(recorded ?? [])],
    })
    rows.push(...ended)
  }
  return rows
}
