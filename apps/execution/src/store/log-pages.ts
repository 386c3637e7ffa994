import { LogLevel } from '@automation/contract/execution/v1/execution'
import type { Window } from '@automation/database'
import { isTaken, type Queries } from './connections.ts'
import { visible } from './records.ts'

/** Lines that do not come from the run are numbered from here, so that they never meet its own. */
export const appendedFrom = 1_000_000_000

/** The number of the line that says why a run was ended by something else than itself: whatever else comes is before it. */
export const lastWord = 2_000_000_000

/** An entry as a chunk's body holds it: microseconds, level, message. */
export type LogLine = [timeUs: number, level: number, message: string]

/** The body of that line in a statement, `text` being an expression. */
export function lastWordBody(text: string): string {
  return `json_build_array(json_build_array((extract(epoch FROM now()) * 1000000)::bigint, ${LogLevel.ERROR}, ${text}))::text`
}

/** In a statement, the number of the next line that is added to the log of a run, `id` being an expression: by `takingNumbers`. */
export function nextAppended(id: string): string {
  return `coalesce((SELECT max(l.first) + 1 FROM log_chunks l
                     WHERE l.execution_id = ${id} AND l.first >= ${appendedFrom} AND l.first < ${lastWord}), ${appendedFrom})`
}

/** Makes a statement that adds lines; anew where others that were added at the same time have got its numbers. */
export async function takingNumbers<T>(add: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await add()
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  }
}

export interface LogPage {
  lines: LogLine[]
  total: number
}

/** In a statement, the end of the lines of a log whose chunks are numbered like this. */
const endOf = (numbers: string) =>
  `coalesce((SELECT first + lines FROM log_chunks WHERE execution_id = $1 AND ${numbers} ORDER BY first DESC LIMIT 1), 0)`

/** The lines stand in three ranges: the run's own, those that were added, and the last word. */
const page = `
WITH log AS MATERIALIZED (
  SELECT ${endOf(`first < ${appendedFrom}`)} AS own,
         greatest(${endOf(`first >= ${appendedFrom} AND first < ${lastWord}`)} - ${appendedFrom}, 0) AS appended,
         (SELECT count(*)::integer FROM log_chunks WHERE execution_id = $1 AND first = ${lastWord}) AS closed
    FROM executions e WHERE e.id = $1 AND e.team = $2 AND ${visible}
), bounds AS (
  SELECT own, own + appended AS others, closed, least($3::bigint, own + appended + 1)::integer AS start,
         least($3::bigint + $4, own + appended + 1)::integer AS stop FROM log
), ranges AS (
  SELECT start AS "from", least(stop, own) AS "to" FROM bounds
   UNION ALL
  SELECT ${appendedFrom} + greatest(start - own, 0), ${appendedFrom} + least(stop, others) - own FROM bounds
   UNION ALL
  SELECT ${lastWord}, ${lastWord} + 1 FROM bounds WHERE closed > 0 AND start <= others AND stop > others
)
SELECT own + appended + closed AS total, l.* FROM log LEFT JOIN (
  SELECT "from", "to", first, body FROM ranges CROSS JOIN LATERAL (
    SELECT first, body FROM log_chunks
     WHERE execution_id = $1 AND first < "to"
       AND first >= coalesce((SELECT max(first) FROM log_chunks WHERE execution_id = $1 AND first <= "from"), 0)) c
   WHERE "from" < "to") l ON true
 ORDER BY l.first`

interface PageRow {
  total: number
  from: number
  to: number
  first: number
  /** Absent where the page has no lines. */
  body: string | null
}

/**
 * A page of the log of an execution that is shown to a team, oldest first; only the chunks that hold it are read.
 * Undefined where there is no such execution.
 */
export async function readLogPage(
  pool: Queries,
  team: string,
  id: string,
  { take, skip }: Window,
): Promise<LogPage | undefined> {
  const { rows } = await pool.query<PageRow>({ name: 'log-page', text: page, values: [id, team, skip, take] })
  if (rows[0] === undefined) return undefined
  const lines = rows.flatMap(({ from, to, first, body }) =>
    (JSON.parse(body ?? '[]') as LogLine[]).filter((_, index) => first + index >= from && first + index < to),
  )
  return { lines, total: rows[0].total }
}

/** Adds lines to the log of an execution of this team; false when there is no such execution. */
export async function appendLines(pool: Queries, team: string, id: string, lines: LogLine[]): Promise<boolean> {
  const statement = {
    name: 'append-lines',
    text: `INSERT INTO log_chunks (execution_id, first, lines, body)
           SELECT e.id, ${nextAppended('e.id')} + l.n::integer - 1, 1, l.body
             FROM executions e CROSS JOIN unnest($3::text[]) WITH ORDINALITY AS l(body, n)
            WHERE e.id = $1 AND e.team = $2`,
    values: [id, team, lines.map((line) => JSON.stringify([line]))],
  }
  const { rowCount } = await takingNumbers(() => pool.query(statement))
  return rowCount === lines.length
}
