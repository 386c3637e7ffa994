import { endedStatuses } from './statuses.ts'
import { runningRuns } from './tracked-runs.ts'
import { hasLostToken, type Labels } from './team-pools.ts'
import type { Queries } from './connections.ts'

export interface Session {
  id: string
  runnerName: string
  pool: string
  slots: number
  oneTeam: boolean
  /** Of a pool of one team, or of a pod that was a team's before: whose it is from the beginning. */
  team: string | undefined
  labels: Labels
  /** Of a runner that came with one. */
  tokenId: string | undefined
  /** Of a runner that came with the key of one. */
  podId: string | undefined
  version: string
  languages: string[]
  /** With `oneTeam`: why it serves no more. */
  remedy: string
  canDrain: boolean
  /** It was made on demand. */
  retires: boolean
}

/**
 * Registers a session, or knows it again; false when it was lost or has said goodbye, or is that of a runner that came
 * otherwise. The lease counts from now.
 */
export async function openSession(pool: Queries, session: Session, leaseMs: number): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'open-session',
    text: `INSERT INTO sessions (id, runner_name, pool, places, one_team, version, languages, remedy, can_drain, retires,
                                 team, labels, token_id, pod_id, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, now() + $15 * interval '1 ms')
           ON CONFLICT (id) DO UPDATE
              SET expires_at = excluded.expires_at, version = excluded.version, languages = excluded.languages,
                  remedy = excluded.remedy, can_drain = excluded.can_drain, retires = excluded.retires,
                  labels = excluded.labels, team = coalesce(sessions.team, excluded.team)
            WHERE sessions.ended_at IS NULL AND sessions.token_id IS NOT DISTINCT FROM excluded.token_id
              AND sessions.pod_id IS NOT DISTINCT FROM excluded.pod_id`,
    values: [
      ...[session.id, session.runnerName, session.pool, session.slots, session.oneTeam],
      ...[session.version, session.languages, session.remedy, session.canDrain, session.retires],
      ...[session.team ?? null, JSON.stringify(session.labels), session.tokenId ?? null],
      ...[session.podId ?? null, leaseMs],
    ],
  })
  return rowCount === 1
}

/** What is known of a pod by its sessions: whose it is, once that is decided; undefined where it had none. */
export async function readPod(pool: Queries, podId: string): Promise<{ team: string | undefined } | undefined> {
  const { rows } = await pool.query<{ team: string | null }>({
    name: 'pod',
    text: 'SELECT team FROM sessions WHERE pod_id = $1 ORDER BY team NULLS LAST LIMIT 1',
    values: [podId],
  })
  return rows[0] && { team: rows[0].team ?? undefined }
}

/** How many other sessions of runners that came with a token have not ended. */
export async function countOthersOfToken(pool: Queries, tokenId: string, id: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({
    name: 'sessions-of-token',
    text: 'SELECT count(*)::integer AS count FROM sessions WHERE ended_at IS NULL AND token_id = $1 AND id <> $2',
    values: [tokenId, id],
  })
  return rows[0]!.count
}

/** What a runner says of itself with each renewal. */
export interface Renewal {
  id: string
  /** How long it has had no run. */
  idleMs: number
  /** Whose it is, where it serves one team and that is decided. */
  team: string | undefined
  /** Addresses of the replicas that it has a stream to. */
  replicas: string[]
  /** Of a runner that came with one. */
  tokenId: string | undefined
  /** Of a runner that came with the key of one. */
  podId: string | undefined
}

/** Notes whose a runner of one team is. */
export async function bindSession(pool: Queries, id: string, team: string): Promise<void> {
  await pool.query({
    name: 'bind-session',
    text: 'UPDATE sessions SET team = $2 WHERE id = $1 AND team IS DISTINCT FROM $2',
    values: [id, team],
  })
}

/** Notes whose a pod is, by its session; false where that has ended, or the pod is another team's. */
export async function bindPod(pool: Queries, id: string, team: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'bind-pod',
    // The session before may have become another team's since this one was opened.
    text: `UPDATE sessions s SET team = $2
            WHERE id = $1 AND ended_at IS NULL AND (team IS NULL OR team = $2)
              AND NOT EXISTS (SELECT FROM sessions o WHERE o.pod_id = s.pod_id AND o.team <> $2)`,
    values: [id, team],
    query_timeout: 2000,
  })
  return rowCount === 1
}

/** Whose a session is, where that is decided. */
export async function readTeamOf(pool: Queries, id: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ team: string | null }>({
    name: 'team-of-session',
    text: 'SELECT team FROM sessions WHERE id = $1',
    values: [id],
    query_timeout: 2000,
  })
  return rows[0]?.team ?? undefined
}

/**
 * Prolongs the lease, and says whether the runner is to drain; undefined when the session is lost. A lease that is over counts
 * until the session is ended.
 */
export async function renewSession(
  pool: Queries,
  renewal: Renewal,
  leaseMs: number,
): Promise<{ drain: boolean } | undefined> {
  const { rows } = await pool.query<{ drain: boolean }>({
    name: 'renew-session',
    text: `UPDATE sessions
              SET expires_at = now() + $2 * interval '1 ms', idle_since = now() - $3 * interval '1 ms',
                  team = coalesce(CASE WHEN $6::uuid IS NULL AND $7::uuid IS NULL THEN $4 END, team),
                  replicas = $5, renewed_at = now()
            WHERE id = $1 AND ended_at IS NULL AND token_id IS NOT DISTINCT FROM $6::uuid
              AND pod_id IS NOT DISTINCT FROM $7::uuid RETURNING drain_asked_at IS NOT NULL AS drain`,
    values: [
      ...[renewal.id, leaseMs, renewal.idleMs, renewal.team ?? null, renewal.replicas],
      ...[renewal.tokenId ?? null, renewal.podId ?? null],
    ],
    query_timeout: 2000,
  })
  return rows[0]
}

export interface Lease {
  id: string
  ended: boolean
  /** What is left of the lease. */
  leftMs: number
}

/** How it stands with some sessions; one that is not there has ended long ago. */
export async function readLeases(pool: Queries, sessionIds: string[]): Promise<Lease[]> {
  const { rows } = await pool.query<Lease>({
    name: 'leases',
    text: `SELECT i.id, s.id IS NULL OR s.ended_at IS NOT NULL OR (${hasLostToken}) AS ended,
                  coalesce(extract(epoch FROM s.expires_at - now()) * 1000, 0)::float8 AS "leftMs"
             FROM unnest($1::uuid[]) AS i(id) LEFT JOIN sessions s ON s.id = i.id`,
    values: [sessionIds],
  })
  return rows
}

/** Ends one session. */
export async function endSession(pool: Queries, id: string): Promise<void> {
  await pool.query({
    name: 'end-session',
    text: 'UPDATE sessions SET ended_at = now() WHERE id = $1 AND ended_at IS NULL',
    values: [id],
  })
}

/**
 * Commits a write where runners renew their leases: while that fails, neither can they. The row is that of a session
 * which has ended, and so nobody's.
 */
export async function writeAmongSessions(pool: Queries, id: string): Promise<void> {
  await pool.query({
    name: 'write-among-sessions',
    text: `INSERT INTO sessions (id, runner_name, pool, places, expires_at, ended_at)
           VALUES ($1, 'reaper', '', 0, now(), now())
           ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`,
    values: [id],
  })
}

/** The database's clock, in ms. */
export async function readClock(pool: Queries): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>({
    name: 'clock',
    text: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
  })
  return rows[0]!.ms
}

/** The sessions whose token is worth nothing any more. */
export async function readSessionsWithoutToken(pool: Queries): Promise<string[]> {
  return ids(pool, {
    name: 'sessions-without-token',
    text: `SELECT id FROM sessions s WHERE ended_at IS NULL AND ${hasLostToken}`,
  })
}

/** Ends the sessions whose lease is over by the database's clock, or all. */
export async function endExpiredSessions(pool: Queries, all = false): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'expire-sessions',
    text: `UPDATE sessions SET ended_at = now() WHERE ended_at IS NULL AND (expires_at < now() OR $1) RETURNING id`,
    values: [all],
  })
  return rows.map(({ id }) => id)
}

/** RUNNING runs that no living session answers for. */
export async function readOrphans(pool: Queries): Promise<string[]> {
  return ids(pool, {
    name: 'orphans',
    text: `SELECT e.id FROM ${runningRuns} e
            WHERE NOT EXISTS (SELECT FROM sessions s WHERE s.id = e.session_id AND s.ended_at IS NULL)`,
  })
}

/** By how many ms the database's clock has leapt ahead of ours in all, the last time up to `untilMs` of its own. */
export interface Leaps {
  ms: number
  untilMs: number
}

/**
 * RUNNING runs that are past their time by this much: their runner should have ended them. Those that began before
 * a leap of the clock had less time than it says; whatever began later is not concerned.
 */
export async function readOverdue(
  pool: Queries,
  byMs: number,
  leaps: Leaps,
): Promise<{ id: string; timeoutMs: number }[]> {
  const { rows } = await pool.query<{ id: string; timeoutMs: number }>({
    name: 'overdue',
    text: `SELECT e.id, e.timeout_ms AS "timeoutMs" FROM ${runningRuns} e
            WHERE e.started_at + (e.timeout_ms + $1::float8
                    + CASE WHEN e.started_at < to_timestamp($3::float8 / 1000) THEN $2::float8 ELSE 0 END
                  ) * interval '1 ms' < now()`,
    values: [byMs, leaps.ms, leaps.untilMs],
  })
  return rows
}

/** RUNNING runs of a session that its runner does not name, though they were assigned more than a lease ago. */
export function readUnnamed(pool: Queries, sessionId: string, named: string[], leaseMs: number): Promise<string[]> {
  return ids(pool, {
    name: 'unnamed',
    text: `SELECT id FROM ${runningRuns} e
            WHERE session_id = $1 AND NOT id = ANY ($2::uuid[])
              AND started_at < now() - $3 * interval '1 ms'`,
    values: [sessionId, named, leaseMs],
    query_timeout: 2000,
  })
}

/** Those of these executions of a session that are terminal. */
export function readEnded(pool: Queries, sessionId: string, named: string[]): Promise<string[]> {
  return ids(pool, {
    name: 'ended',
    text: `SELECT id FROM executions WHERE id = ANY ($1::uuid[]) AND session_id = $2 AND status IN ${endedStatuses}`,
    values: [named, sessionId],
    query_timeout: 2000,
  })
}

/** Ids of all executions that are RUNNING. */
export function readRunning(pool: Queries): Promise<string[]> {
  return ids(pool, { name: 'running', text: `SELECT id FROM ${runningRuns} e` })
}

/** Ids of the RUNNING executions of a session. */
export function readRunningOf(pool: Queries, sessionId: string): Promise<string[]> {
  return ids(pool, {
    name: 'running-of',
    text: `SELECT id FROM ${runningRuns} e WHERE session_id = $1`,
    values: [sessionId],
  })
}

/** Sessions that ended a day ago are forgotten. */
export async function forgetSessions(pool: Queries): Promise<void> {
  await pool.query(`DELETE FROM sessions WHERE ended_at < now() - interval '1 day'`)
}

async function ids(pool: Queries, query: Parameters<Queries['query']>[0]): Promise<string[]> {
  return (await pool.query<{ id: string }>(query)).rows.map(({ id }) => id)
}
