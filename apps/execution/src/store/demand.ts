import { createdAtMs } from '../execution-id.ts'
import { waitsForSlot } from './statuses.ts'
import { runningRuns } from './tracked-runs.ts'
import type { Queries } from './connections.ts'

/** A runner of a pool, as all replicas together know it. */
export interface LivingRunner {
  sessionId: string
  pool: string
  runnerName: string
  oneTeam: boolean
  /** Whether it ends by itself once it has had nothing to do for long. */
  retires: boolean
  /** Empty where it is nobody's yet, or serves many. */
  team: string
  slots: number
  running: number
  /** It takes no more runs. */
  drains: boolean
  idleMs: bigint
}

/** The runners of these pools whose session has not ended. */
export async function readLivingRunners(pool: Queries, pools: string[]): Promise<LivingRunner[]> {
  const { rows } = await pool.query<LivingRunner & { idleMs: number }>({
    name: 'living-runners',
    // A run may be there before whose the runner is has been noted.
    text: `SELECT s.id AS "sessionId", s.pool, s.runner_name AS "runnerName", s.one_team AS "oneTeam", s.retires, s.places AS slots,
                  CASE WHEN s.one_team THEN coalesce(s.team, r.team, '') ELSE '' END AS team,
                  coalesce(r.running, 0) AS running, s.drain_asked_at IS NOT NULL AS drains,
                  CASE WHEN r.running > 0 THEN 0
                       ELSE greatest(extract(epoch FROM now() - s.idle_since) * 1000, 0) END::float8 AS "idleMs"
             FROM sessions s
             LEFT JOIN (SELECT session_id, min(team) AS team, count(*)::integer AS running
                          FROM ${runningRuns} e GROUP BY session_id) r ON r.session_id = s.id
            WHERE s.ended_at IS NULL AND s.pool = ANY ($1)
            ORDER BY s.id`,
    values: [pools],
  })
  return rows.map((row) => ({ ...row, idleMs: BigInt(Math.round(row.idleMs)) }))
}

const mostTeams = 1000

/** What teams may run: that of all, and of those that have another limit. */
interface RunningLimits {
  usual: number
  others: { team: string; value: number }[]
}

const limitOf =
  'coalesce((SELECT o.most FROM unnest($3::text[], $4::integer[]) AS o(team, most) WHERE o.team = t.team), $2)'

/** Teams with queued runs in a pool and a slot for one more, the one that has waited longest first. */
export async function readWaitingTeams(
  pool: Queries,
  runnerPool: string,
  { usual, others }: RunningLimits,
  nowMs: number,
): Promise<{ team: string; waitedMs: bigint }[]> {
  const { rows } = await pool.query<{ team: string; oldest: string }>({
    name: 'waiting-teams',
    text: `SELECT t.team, q.id AS oldest FROM team_slots t
            CROSS JOIN LATERAL (SELECT e.id FROM executions e WHERE ${waitsForSlot} AND e.pool = $1 AND e.team = t.team
                                 ORDER BY e.id LIMIT 1) q
            WHERE t.queued > 0 AND t.moved_to IS NULL
              AND t.running + t.wanted < ${limitOf}
            ORDER BY q.id LIMIT ${mostTeams}`,
    values: [runnerPool, usual, others.map(({ team }) => team), others.map(({ value }) => value)],
  })
  return rows.map(({ team, oldest }) => ({ team, waitedMs: BigInt(Math.max(0, nowMs - createdAtMs(oldest))) }))
}

const mostRunsOfTeam = 1000

/** How many queued runs of a team a runner of a pool may have now, counted up to 1,000. */
export async function readWaitingRuns(
  pool: Queries,
  pools: string[],
  { usual, others }: RunningLimits,
): Promise<{ pool: string; team: string; runs: number }[]> {
  const { rows } = await pool.query<{ pool: string; team: string; runs: number }>({
    name: 'waiting-runs',
    text: `SELECT p.pool, t.team, q.runs::integer AS runs
             FROM team_slots t CROSS JOIN unnest($1::text[]) AS p(pool)
            CROSS JOIN LATERAL (SELECT count(*) AS runs FROM (
                    SELECT FROM executions e WHERE ${waitsForSlot} AND e.pool = p.pool AND e.team = t.team
                     LIMIT least(${mostRunsOfTeam}, ${limitOf} - t.running - t.wanted)) counted) q
            WHERE t.queued > 0 AND t.moved_to IS NULL AND t.running + t.wanted < ${limitOf} AND q.runs > 0`,
    values: [pools, usual, others.map(({ team }) => team), others.map(({ value }) => value)],
  })
  return rows
}
