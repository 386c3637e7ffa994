import { Language } from '@automation/contract/common/v1/language'
import { timestampFromMs, type Timestamp } from '@bufbuild/protobuf/wkt'
import { createdAtMs } from '../execution-id.ts'
import type { Labels } from './team-pools.ts'
import { runningRuns } from './tracked-runs.ts'
import type { Queries } from './connections.ts'

/** A runner as its session's row and its runs say. */
interface RunnerRow {
  id: string
  name: string
  version: string
  pool: string
  languages: Language[]
  labels: Labels
  /** Empty for one that came without. */
  poolTokenId: string
  oneTeam: boolean
  /** Empty where it is nobody's yet, or serves many. */
  team: string
  remedy: string
  slots: number
  running: number
  connectedAt: Timestamp
  replicas: string[]
  drainAsked: boolean
  /** It has heard of it. */
  draining: boolean
  retires: boolean
  idleMs: bigint
  silentMs: bigint
}

type Row = Omit<RunnerRow, 'languages' | 'connectedAt' | 'idleMs' | 'silentMs'> & {
  languages: (keyof typeof Language)[]
  idleMs: number
  silentMs: number
}

/** The runners of all pools whose session has not ended, by their age. */
export async function readRunners(pool: Queries): Promise<RunnerRow[]> {
  const { rows } = await pool.query<Row>({
    name: 'runners',
    // A run may be there before whose the runner is has been noted.
    text: `SELECT s.id, s.runner_name AS name, s.version, s.pool, s.languages, s.labels,
                  coalesce(s.token_id::text, '') AS "poolTokenId", s.one_team AS "oneTeam", s.remedy,
                  CASE WHEN s.one_team THEN coalesce(s.team, r.team, '') ELSE '' END AS team,
                  s.places AS slots, coalesce(r.running, 0) AS running, s.replicas, s.retires,
                  s.drain_asked_at IS NOT NULL AS "drainAsked",
                  coalesce(s.drain_asked_at < s.renewed_at, false) AS draining,
                  CASE WHEN r.running > 0 THEN 0
                       ELSE greatest(extract(epoch FROM now() - s.idle_since) * 1000, 0) END::float8 AS "idleMs",
                  greatest(extract(epoch FROM now() - s.renewed_at) * 1000, 0)::float8 AS "silentMs"
             FROM sessions s
             LEFT JOIN (SELECT session_id, min(team) AS team, count(*)::integer AS running
                          FROM ${runningRuns} e GROUP BY session_id) r ON r.session_id = s.id
            WHERE s.ended_at IS NULL
            ORDER BY s.id`,
  })
  return rows.map(({ languages, idleMs, silentMs, ...row }) => ({
    ...row,
    languages: languages.map((name) => Language[name]),
    // Ids of sessions are made as those of executions.
    connectedAt: timestampFromMs(createdAtMs(row.id)),
    idleMs: BigInt(Math.round(idleMs)),
    silentMs: BigInt(Math.round(silentMs)),
  }))
}

/** Notes that a runner is to end once its runs have, where it can; undefined where there is none, or no longer. */
export async function askToDrain(pool: Queries, id: string): Promise<{ name: string; canDrain: boolean } | undefined> {
  const { rows } = await pool.query<{ name: string; canDrain: boolean }>({
    name: 'ask-to-drain',
    text: `UPDATE sessions SET drain_asked_at = CASE WHEN can_drain THEN coalesce(drain_asked_at, now()) END
            WHERE id = $1 AND ended_at IS NULL
           RETURNING runner_name AS name, can_drain AS "canDrain"`,
    values: [id],
  })
  return rows[0]
}
