import { storedText } from './stored-text.ts'
import type { Arrival } from './new-run-columns.ts'
import type { TeamMoves } from '../move/team-moves.ts'
import type { Queries } from './connections.ts'

const maxSeen = 100_000

const statement = `
WITH teams AS (
  INSERT INTO team_slots (team) SELECT DISTINCT team FROM unnest($1::text[]) AS t(team) ORDER BY team ON CONFLICT DO NOTHING
)
INSERT INTO process_names (team, process_id, process_name)
SELECT DISTINCT * FROM unnest($1::text[], $2::uuid[], $3::text[]) AS n(team, process_id, process_name)
 ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`

/** Rows that a run needs beside its own, made when its team or the name of its process is seen for the first time here. */
export class KnownTeams {
  readonly #seen = new Set<string>()

  readonly #moves: Pick<TeamMoves, 'requireOwn'>

  constructor(moves: Pick<TeamMoves, 'requireOwn'>) {
    this.#moves = moves
  }

  /** Failures: team_moved where a team that has had no run here is of another cell. */
  async ensure(pool: Queries, arrivals: Arrival[]): Promise<void> {
    const unseen = arrivals.filter(({ run }) => !this.#seen.has(keyOf(run.team, run.spec)))
    if (unseen.length === 0) return
    const teams = await withoutRow(pool, [...new Set(unseen.map(({ run }) => run.team))])
    await Promise.all(teams.map((team) => this.#moves.requireOwn(team)))
    const values = [
      unseen.map(({ run }) => run.team),
      unseen.map(({ run }) => run.spec.processId),
      unseen.map(({ run }) => storedText(run.spec.processName)),
    ]
    await pool.query({ name: 'known-teams', text: statement, values, query_timeout: 1500 })
    if (this.#seen.size > maxSeen) this.#seen.clear()
    for (const { run } of unseen) this.#seen.add(keyOf(run.team, run.spec))
  }
}

/** Those of these teams that have had no run here. */
async function withoutRow(pool: Queries, teams: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ team: string }>({
    name: 'teams-without-row',
    text: `SELECT team FROM unnest($1::text[]) AS t(team) WHERE NOT EXISTS (SELECT FROM team_slots s WHERE s.team = t.team)`,
    values: [teams],
    query_timeout: 1500,
  })
  return rows.map(({ team }) => team)
}

function keyOf(team: string, { processId, processName }: { processId: string; processName: string }): string {
  return `${team} ${processId} ${processName}`
}
