import { LogLevel } from '@automation/contract/execution/v1/execution'
import type { Queries } from './connections.ts'

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

/** In a statement, the number of the next line that is added to the log of a run, `id` being an expression. */
export function nextAppended(id: string): string {
  return `coalesce((SELECT max(l.first) + 1 FROM log_chunks l
                     WHERE l.execution_id = ${id} AND l.first >= ${appendedFrom} AND l.first < ${lastWord}), ${appendedFrom})`
}

export interface LogPage {
  lines: LogLine[]
  total: number
}

/** A page of a log, oldest first; only the chunks that hold it are read. */
export async function readLogPage(pool: Queries, id: string, limit: number, offset: number): Promise<LogPage> {
  const ends = await pool.query<{ own: number; appended: number; closed: number }>({
    name: 'log-ends',
    text: `SELECT coalesce((SELECT first + lines FROM log_chunks WHERE execution_id = $1 AND first < ${appendedFrom}
                             ORDER BY first DESC LIMIT 1), 0) AS own,
                  coalesce((SELECT first + lines - ${appendedFrom} FROM log_chunks
                             WHERE execution_id = $1 AND first >= ${appendedFrom} AND first < ${lastWord}
                             ORDER BY first DESC LIMIT 1), 0) AS appended,
                  (SELECT count(*)::integer FROM log_chunks WHERE execution_id = $1 AND first = ${lastWord}) AS closed`,
    values: [id],
  })
  const { own, appended, closed } = ends.rows[0]!
  const lines = await readLines(pool, id, offset, Math.min(offset + limit, own))
  if (offset + limit > own && appended > 0) {
    const from = appendedFrom + Math.max(offset - own, 0)
    lines.push(...(await readLines(pool, id, from, appendedFrom + Math.min(offset + limit - own, appended))))
  }
  const others = own + appended
  if (closed > 0 && offset <= others && offset + limit > others)
    lines.push(...(await readLines(pool, id, lastWord, lastWord + 1)))
  return { lines, total: others + closed }
}

/** Adds a line to the log of an execution of this team; false when there is no such execution. */
export async function appendLine(pool: Queries, team: string, id: string, line: LogLine): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'append-line',
    text: `INSERT INTO log_chunks (execution_id, first, lines, body)
           SELECT e.id, ${nextAppended('e.id')}, 1, $3 FROM executions e WHERE e.id = $1 AND e.team = $2`,
    values: [id, team, JSON.stringify([line])],
  })
  return rowCount === 1
}

/** The same unless the same text was added before; false then, too. */
export async function appendLineOnce(pool: Queries, team: string, id: string, line: LogLine): Promise<boolean> {
  const { rows } = await pool.query<{ body: string }>({
    name: 'appended-lines',
    text: `SELECT body FROM log_chunks WHERE execution_id = $1 AND first >= ${appendedFrom} AND first < ${lastWord}`,
    values: [id],
  })
  const known = rows.flatMap(({ body }) => JSON.parse(body) as LogLine[])
  return !known.some(([, , text]) => text === line[2]) && appendLine(pool, team, id, line)
}

/** Lines with numbers from `from` until before `to`. */
async function readLines(pool: Queries, id: string, from: number, to: number): Promise<LogLine[]> {
  if (from >= to) return []
  const { rows } = await pool.query<{ first: number; body: string }>({
    name: 'log-lines',
    text: `SELECT first, body FROM log_chunks
            WHERE execution_id = $1 AND first < $3
              AND first >= coalesce((SELECT max(first) FROM log_chunks WHERE execution_id = $1 AND first <= $2), 0)
            ORDER BY first`,
    values: [id, from, to],
  })
  return rows.flatMap(({ first, body }) =>
    (JSON.parse(body) as LogLine[]).filter((_, index) => first + index >= from && first + index < to),
  )
}
