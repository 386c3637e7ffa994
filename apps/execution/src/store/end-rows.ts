import type { Status } from '@automation/contract/execution/v1/execution'
import type { LogEntry } from '@automation/contract/execution/v1/execution'
import type pg from 'pg'
import { dayOf } from '../execution-id.ts'
import { chunkBody } from './log-chunks.ts'

/** A result on its way into the database. */
export interface Ending {
  id: string
  fence: bigint
  status: Status.FINISHED | Status.ERROR
  /** JSON text as it is kept. */
  returnValue?: string
  transient: boolean
  explanation?: string
  logs?: { first: number; entries: LogEntry[] }
}

/** What the row says after the statement; the status is another one where the compare-and-set found no match. */
export interface Ended {
  id: string
  status: Status
  /** Whether this ending, now or by an earlier try, is what the row holds. */
  stored: boolean
  team: string
  replicaId: string
  /** Of who started it; where this statement has ended it. */
  traceparent?: string | null
}

const oneRow = `(SELECT $1::uuid AS id, $2::bigint AS fence, $3::smallint AS status, $4::text AS return_value,
                 $5::boolean AS transient, $6::text AS explanation) AS i`
const manyRows = `unnest($1::uuid[], $2::bigint[], $3::smallint[], $4::text[], $5::boolean[], $6::text[])
      AS i(id, fence, status, return_value, transient, explanation)`

const insertLogs = `, logs AS (
  INSERT INTO log_chunks (execution_id, first, lines, body)
  SELECT l.id, l.first, l.lines, l.body
    FROM unnest($7::uuid[], $8::integer[], $9::integer[], $10::text[]) AS l(id, first, lines, body) JOIN ended USING (id)
  ON CONFLICT DO NOTHING
)`

const statement = (day: string, rows: string, logs: string) => `
WITH ended AS (
  UPDATE executions_${day} e
     SET status = i.status, sequence = e.sequence + 1, return_value = i.return_value, transient = i.transient,
         explanation = i.explanation, updated_at = now()
    FROM ${rows}
   WHERE e.id = i.id AND e.fence = i.fence AND e.status = 4
  RETURNING e.id, e.status, e.sequence, e.explanation, e.team, e.process_id, e.replica_id, e.slot, e.traceparent
), freed AS (
  UPDATE team_slots t SET running = t.running - c.held, wanted = t.wanted - c.wanted
    FROM (SELECT team, count(*) FILTER (WHERE slot = 1) AS held, count(*) FILTER (WHERE slot = 2) AS wanted
            FROM ended GROUP BY team ORDER BY team) c
   WHERE t.team = c.team
), events AS (
  INSERT INTO timeline_events (execution_id, sequence, status, at, explanation, team, process_id)
  SELECT id, sequence, status, now(), explanation, team, process_id FROM ended
)${logs}
SELECT id, status, true AS stored, team, replica_id AS "replicaId", traceparent FROM ended`

const actual = (day: string) => `
SELECT e.id, e.status, e.fence = i.fence AND e.status = i.status AS stored, e.team, e.replica_id AS "replicaId"
  FROM executions_${day} e JOIN unnest($1::uuid[], $2::bigint[], $3::smallint[]) AS i(id, fence, status) USING (id)`

/**
 * Ends RUNNING runs in one statement, by a compare-and-set on (status, fence), with their last event, their last log
 * and their teams' slots. All of the same day. What did not match is read back: repeating is harmless.
 */
export async function endRows(pool: pg.Pool, endings: Ending[]): Promise<Map<string, Ended>> {
  const day = dayOf(endings[0]!.id)
  // In the order of ids, as every statement that locks several of them.
  const sorted = endings.length === 1 ? endings : endings.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const keys = [sorted.map(({ id }) => id), sorted.map(({ fence }) => fence), sorted.map(({ status }) => status)]
  const columns = [
    ...keys,
    sorted.map(({ returnValue }) => returnValue ?? null),
    sorted.map(({ transient }) => transient),
    sorted.map(({ explanation }) => explanation ?? null),
  ]
  const one = sorted.length === 1
  const logged = sorted.filter(({ logs }) => logs !== undefined && logs.entries.length > 0)
  const logs = logged.length > 0
  const { rows } = await pool.query<Ended>({
    name: `end-${one ? 'one' : 'many'}${logs ? '-logs' : ''}-${day}`,
    // A single ending goes as plain parameters: arrays cost a tenth of a millisecond more.
    text: statement(day, one ? oneRow : manyRows, logs ? insertLogs : ''),
    values: [...(one ? columns.map(([value]) => value) : columns), ...(logs ? logColumns(logged) : [])],
  })
  const ended = new Map(rows.map((row) => [row.id, row]))
  if (ended.size < endings.length) {
    const read = await pool.query<Ended>({ name: `ended-${day}`, text: actual(day), values: keys })
    for (const row of read.rows) if (!ended.has(row.id)) ended.set(row.id, row)
  }
  return ended
}

function logColumns(logged: Ending[]): unknown[] {
  return [
    logged.map(({ id }) => id),
    logged.map(({ logs }) => logs!.first),
    logged.map(({ logs }) => logs!.entries.length),
    logged.map(({ logs }) => chunkBody(logs!.entries)),
  ]
}

/** About how many bytes an ending brings into a statement. */
export function endingWeight({ returnValue, logs }: Ending): number {
  const lines = logs?.entries.reduce((sum, { message }) => sum + message.length + 40, 0) ?? 0
  return (returnValue?.length ?? 0) + lines + 200
}
