import { way } from '../status.ts'
import { LogLevel, Status, type LogEntry } from '@automation/contract/execution/v1/execution'
import { dayOf } from '../execution-id.ts'
import { chunkColumns, chunkWeight, type Chunk } from './log-chunks.ts'
import { lastWord } from './log-pages.ts'
import { noLongerThan } from './start-keys.ts'
import type { Queries } from './connections.ts'

/** A result on its way into the database. */
export interface Ending {
  id: string
  fence: bigint
  /** Of the runner that brings it: only that to which the run was assigned ends it. */
  sessionId: string
  status: Status.FINISHED | Status.ERROR
  /** JSON text as it is kept. */
  returnValue?: string
  transient: boolean
  explanation?: string
  /** Of the source, where the failure came out of it. */
  errorLine?: number
  /** What it took, as its runner says. */
  cpuMs?: number
  memoryMb?: number
  logs?: { first: number; entries: LogEntry[] }
  /** Its end is not the runner's word, whose log says nothing of it: the explanation becomes the last line. */
  isOverruled?: boolean
}

/** What the row says after the statement; the status is another one where the compare-and-set found no match. */
export interface Ended {
  id: string
  status: Status
  /** Whether this ending, now or by an earlier try, is what the row holds. */
  stored: boolean
  /** Whether this statement has ended it. */
  written: boolean
  team: string
  replicaId: string
  /** Of who started it; where it was written. */
  traceparent?: string | null
}

/** From which alone runs end by their own results. */
const [running] = way(Status.RUNNING, Status.FINISHED)
way(running, Status.ERROR)

/** Before anything is locked. */
const patience = noLongerThan(800)

const oneRow = `(SELECT $1::uuid AS id, $2::bigint AS fence, $3::smallint AS status, $4::text AS return_value,
                 $5::boolean AS transient, $6::text AS explanation, $7::uuid AS session_id,
                 $8::integer AS error_line, $9::integer AS cpu_ms, $10::integer AS memory_mb) AS i`
const manyRows = `unnest($1::uuid[], $2::bigint[], $3::smallint[], $4::text[], $5::boolean[], $6::text[], $7::uuid[], $8::integer[], $9::integer[], $10::integer[])
      AS i(id, fence, status, return_value, transient, explanation, session_id, error_line, cpu_ms, memory_mb)`

const insertLogs = `, logs AS (
  INSERT INTO log_chunks (execution_id, first, lines, body)
  SELECT l.id, l.first, l.lines, l.body
    FROM unnest($11::uuid[], $12::bigint[], $13::uuid[], $14::integer[], $15::integer[], $16::text[])
      AS l(id, fence, session_id, first, lines, body) JOIN ended USING (id, fence, session_id)
  ON CONFLICT DO NOTHING
)`

const statement = (day: string, rows: string, logs: string) => `
WITH ended AS (
  UPDATE executions_${day} e
     SET status = i.status, sequence = e.sequence + 1, return_value = i.return_value, transient = i.transient,
         explanation = i.explanation, error_line = i.error_line, cpu_ms = i.cpu_ms, memory_mb = i.memory_mb,
         updated_at = now(), tracked = false
    FROM ${patience} CROSS JOIN ${rows}
   WHERE e.id = i.id AND e.fence = i.fence AND e.session_id = i.session_id AND e.status = ${running}
  RETURNING e.id, e.fence, e.session_id, e.status, e.sequence, e.explanation, e.team, e.process_id, e.replica_id, e.slot, e.traceparent
), freed AS (
  UPDATE team_slots t SET running = t.running - c.held, wanted = t.wanted - c.wanted
    FROM (SELECT team, count(*) FILTER (WHERE slot = 1) AS held, count(*) FILTER (WHERE slot = 2) AS wanted
            FROM ended GROUP BY team ORDER BY team) c
   WHERE t.team = c.team
), events AS (
  INSERT INTO timeline_events (execution_id, sequence, status, at, explanation, team, process_id)
  SELECT id, sequence, status, now(), explanation, team, process_id FROM ended
)${logs}
SELECT id, fence, session_id AS "sessionId", status, true AS stored, true AS written, team, replica_id AS "replicaId", traceparent FROM ended`

const actual = (day: string) => `
SELECT i.id, i.fence, i.session_id AS "sessionId", e.status,
       e.fence = i.fence AND e.session_id = i.session_id AND e.status = i.status AS stored, false AS written, e.team, e.replica_id AS "replicaId"
  FROM executions_${day} e
  JOIN unnest($1::uuid[], $2::bigint[], $3::smallint[], $4::uuid[]) AS i(id, fence, status, session_id) USING (id)`

type EndedRow = Ended & { fence: string; sessionId: string }

/**
 * Ends RUNNING runs in one statement, by a compare-and-set on (status, fence, session), with their last event, their last
 * log and their teams' slots. All of the same day. What did not match is read back: repeating is harmless. Gives what
 * became of each, in their order; undefined where there is no such run.
 */
export async function endRows(pool: Queries, endings: Ending[]): Promise<(Ended | undefined)[]> {
  const day = dayOf(endings[0]!.id)
  // In the order of ids, as every statement that locks several of them.
  const sorted = endings.length === 1 ? endings : endings.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const keys = [sorted.map(({ id }) => id), sorted.map(({ fence }) => fence), sorted.map(({ status }) => status)]
  const sessions = sorted.map(({ sessionId }) => sessionId)
  const columns = [
    ...keys,
    sorted.map(({ returnValue }) => returnValue ?? null),
    sorted.map(({ transient }) => transient),
    sorted.map(({ explanation }) => explanation ?? null),
    sessions,
    sorted.map(({ errorLine }) => errorLine ?? null),
    sorted.map(({ cpuMs }) => cpuMs ?? null),
    sorted.map(({ memoryMb }) => memoryMb ?? null),
  ]
  const one = sorted.length === 1
  const chunks = sorted.flatMap(chunksOf)
  const logs = chunks.length > 0
  const { rows } = await pool.query<EndedRow>({
    name: `end-${one ? 'one' : 'many'}${logs ? '-logs' : ''}-${day}`,
    // A single ending goes as plain parameters: arrays cost a tenth of a millisecond more.
    text: statement(day, one ? oneRow : manyRows, logs ? insertLogs : ''),
    values: [...(one ? columns.map(([value]) => value) : columns), ...(logs ? chunkColumns(chunks) : [])],
  })
  // By the whole of it: two may bring an end of the same run.
  const ended = new Map(rows.map((row) => [keyOf(row), row]))
  if (ended.size < endings.length) {
    const values = [...keys, sessions]
    const read = await pool.query<EndedRow>({ name: `ended-${day}`, text: actual(day), values })
    for (const row of read.rows) if (!ended.has(keyOf(row))) ended.set(keyOf(row), row)
  }
  return endings.map((ending) => ended.get(keyOf(ending)))
}

function keyOf({ id, fence, sessionId }: { id: string; fence: bigint | string; sessionId: string }): string {
  return `${id} ${fence} ${sessionId}`
}

function chunksOf({ id, fence, sessionId, logs, isOverruled, explanation }: Ending): Chunk[] {
  const chunks = logs !== undefined && logs.entries.length > 0 ? [{ id, fence, sessionId, ...logs }] : []
  if (!isOverruled) return chunks
  const entry = { timeUs: BigInt(Date.now()) * 1000n, level: LogLevel.ERROR, message: explanation ?? '' } as LogEntry
  return [...chunks, { id, fence, sessionId, first: lastWord, entries: [entry] }]
}

/** About how many bytes an ending brings into a statement. */
export function endingWeight({ returnValue, logs }: Ending): number {
  return (returnValue?.length ?? 0) + (logs === undefined ? 0 : chunkWeight(logs)) + 200
}
