import type { Window } from '@automation/database'
import { installsProcessId } from '@automation/contract/installs'
import type { Queries } from './connections.ts'
import type { LogLine, LogPage } from './log-pages.ts'

/** A page of what an install has said, oldest first; nothing where the team has none of this id. */
export async function readInstallLog(
  pool: Queries,
  team: string,
  id: string,
  { skip, take }: Window,
): Promise<LogPage> {
  const { rows } = await pool.query<{ total: number; at: number | null; body: string | null }>({
    name: 'install_log',
    text: `WITH chunks AS (
             SELECT first, lines, (sum(lines) OVER (ORDER BY first))::integer AS upto FROM log_chunks
              WHERE execution_id = $1
                AND EXISTS (SELECT FROM executions WHERE id = $1 AND team = $2 AND process_id = $3::uuid)
           )
           SELECT t.total, c.at, l.body FROM (SELECT coalesce(max(upto), 0) AS total FROM chunks) t
             LEFT JOIN (SELECT first, upto - lines AS at FROM chunks WHERE upto > $4 AND upto - lines < $5) c ON true
             LEFT JOIN log_chunks l ON l.execution_id = $1 AND l.first = c.first ORDER BY c.first`,
    values: [id, team, installsProcessId, skip, skip + take],
  })
  const lines = rows.flatMap(({ at, body }) => {
    if (at === null || body === null) return []
    return (JSON.parse(body) as LogLine[]).filter((_, place) => at + place >= skip && at + place < skip + take)
  })
  return { lines, total: rows[0]?.total ?? 0 }
}
