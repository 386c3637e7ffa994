import { teamMoved } from '@automation/errors'
import { storedText } from './stored-text.ts'
import type { Arrival } from './new-run-columns.ts'
import type { TeamMoves } from '../move/team-moves.ts'
import type { Queries } from './connections.ts'
import { noLongerThan } from './start-keys.ts'

const maxSeen = 100_000

const statement = `
INSERT INTO process_names (team, process_id, process_name)
SELECT DISTINCT n.* FROM ${noLongerThan(800)} CROSS JOIN unnest($1::text[], $2::uuid[], $3::text[]) AS n(team, process_id, process_name)
 ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`

/** Rows that a run needs beside its own, made when its team or the name of its process is seen for the first time here. */
export class KnownTeams {
  readonly #seen = new Set<string>()

  /** Teams whose row in `team_slots` was there. */
  readonly #own = new Set<string>()
  readonly #moves: Pick<TeamMoves, 'requireOwn'>

  constructor(moves: Pick<TeamMoves, 'requireOwn'>) {
    this.#moves = moves
  }

  /** Whether the team has had a run here, as far as this replica knows. */
  isOwn(team: string): boolean {
    return this.#own.has(team)
  }

  /** Failures: team_moved where a team that has had no run here is of another cell; those of asking. */
  async requireOwn(pool: Queries, team: string): Promise<void> {
    const { rows } = await pool.query<{ known: boolean }>({
      name: 'team-is-known',
      text: 'SELECT EXISTS (SELECT FROM team_slots WHERE team = $1) AS known',
      values: [team],
      query_timeout: 1500,
    })
    if (rows[0]?.known !== true) {
      await this.#moves.requireOwn(team)
      const text = 'INSERT INTO team_slots (team) VALUES ($1) ON CONFLICT DO NOTHING'
      await pool.query({ text, values: [team], query_timeout: 1500 })
    }
    if (this.#own.size > maxSeen) this.#own.clear()
    this.#own.add(team)
  }

  /** Whether the team is still here; one that has been removed is forgotten. Failure team_moved where it has left. */
  async stays(pool: Queries, team: string): Promise<boolean> {
    const text = 'SELECT moved_to IS NOT NULL AS "hasLeft" FROM team_slots WHERE team = $1'
    const { rows } = await pool.query<{ hasLeft: boolean }>({ name: 'team-stays', text, values: [team] })
    if (rows[0]?.hasLeft === true) throw teamMoved()
    if (rows.length > 0) return true
    this.#own.delete(team)
    for (const key of this.#seen) if (key.startsWith(`${team} `)) this.#seen.delete(key)
    return false
  }

  async ensure(pool: Queries, arrivals: Arrival[]): Promise<void> {
    const unseen = arrivals.filter(({ run }) => !this.#seen.has(keyOf(run.team, run.spec)))
    if (unseen.length === 0) return
    const values = [
      unseen.map(({ run }) => run.team),
      unseen.map(({ run }) => run.spec.processId),
      unseen.map(({ run }) => storedText(run.spec.processName)),
    ]
    await pool.query({ name: 'known-names', text: statement, values, query_timeout: 1500 })
    if (this.#seen.size > maxSeen) this.#seen.clear()
    for (const { run } of unseen) this.#seen.add(keyOf(run.team, run.spec))
  }
}

function keyOf(team: string, { processId, processName }: { processId: string; processName: string }): string {
  return `${team} ${processId} ${processName}`
}
