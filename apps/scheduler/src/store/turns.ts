/** The teams that have rows for which the condition holds, each found by one look into an index that begins with the team. */
export function teamsWith(table: 'firings' | 'schedules', condition: string): string {
  const next = (after: string) => `(SELECT team FROM ${table} WHERE ${condition}${after} ORDER BY team LIMIT 1)`
  return `teams (team) AS (
      ${next('')}
      UNION ALL
      SELECT ${next(' AND team > t.team')} FROM teams t WHERE t.team IS NOT NULL
    )`
}

/**
 * The teams of `teamsWith` that have rows for which `isDue` holds, each with an equal part of `limit`: together, not much
 * more than that is read of them, however many there are. Where some have less, there is more for others the next time.
 */
export function dueTeams(table: 'firings' | 'schedules', isDue: string, limit: string): string {
  return `due_teams AS MATERIALIZED (
      SELECT t.team, ceil(${limit}::bigint / (count(*) OVER ())::float8)::bigint AS part FROM teams t
       CROSS JOIN LATERAL (SELECT FROM ${table} WHERE team = t.team AND ${isDue} LIMIT 1) d
    )`
}

/**
 * How many more of something a team may have, of which so many are free (`free`) and it has some already: half of what it
 * could have. So there is always some left for a team that comes next, however many there are.
 */
export function shareOf(free: number, held: number): number {
  return Math.max(Math.ceil((free + held) / 2) - held, 0)
}
