import { Status } from '@automation/contract/execution/v1/execution'
import { way } from '../status.ts'
import type { Language } from '@automation/contract/common/v1/language'
import { waitsForSlot } from './statuses.ts'
import { runningRuns } from './tracked-runs.ts'
import type { Queries } from './connections.ts'

/** A queued run that was made RUNNING for a session. */
export interface Claimed {
  id: string
  team: string
  pool: string
  sessionId: string
  processId: string
  versionId: string | null
  scheduleId: string | null
  parameters: string
  request: string | null
  comment: string | null
  timeoutMs: number
  freshProcess: boolean
  depth: number
  createdBy: string
  initiatedBy: string | null
  traceparent: string | null
  /** Of what it was accepted with; null for those that older releases accepted. */
  sourceMark: string | null
  /** How long it was QUEUED, in seconds; null where it was not, absent where it is read back. */
  queuedS?: number | null
}

/** What a team's turn left: nothing in its queue, no slot for what is in it, or some of both. */
interface Turn {
  team: string
  left: 'none' | 'no slot' | 'some'
}

export interface ClaimRequest {
  pool: string
  /** In their turn. */
  teams: string[]
  /** The languages of the runners that grant the slots; absent: all. */
  only?: readonly Language[]
  /** One slot each, named by the session that grants it. */
  sessions: string[]
  /** Of each of the teams: its runs in flight. A slot goes to the one with the fewest, its own new ones counted. */
  inFlight: number[]
  /** Of each of the teams: the most for it. */
  quotas: number[]
  /** Of each of the teams. */
  maxRunning: number[]
  /** Of each of the teams: only what is called so deep by runs may begin. */
  leastDepths: number[]
  /** Unique to this claim, so that its outcome can be read back. */
  fence: bigint
}

const row = `e.id, e.team, e.pool, e.session_id AS "sessionId", e.process_id AS "processId", e.version_id AS "versionId",
  e.schedule_id AS "scheduleId", e.parameters, e.request, e.comment, e.timeout_ms AS "timeoutMs", e.fresh_process AS "freshProcess", e.depth,
  e.created_by AS "createdBy", e.initiated_by AS "initiatedBy", e.traceparent, e.source_mark AS "sourceMark"`

const [queued, dequeued, running] = way(Status.QUEUED, Status.DEQUEUED, Status.RUNNING)
way(Status.CREATED, running)

/** What a claim takes. */
interface Kind {
  /** What is of the languages of `$9`. */
  withLanguages: boolean
  /** Of some team only what is called deep enough. Such queries have an index of their own, as the others before them may be many. */
  withDepths: boolean
}

const deepEnough = 'AND e.depth > 0 AND e.depth >= t.least_depth'

/**
 * The rows of the runs are written by the main statement and by no common table: where a locked row has changed meanwhile,
 * PostgreSQL 18 up to 18.4 frees what common tables choose their partitions by, and ends with a signal (record 0220).
 */
const claim = ({ withLanguages, withDepths }: Kind) => {
  const language = withLanguages ? 'AND (e.language = ANY ($9::smallint[]) OR e.language IS NULL)' : ''
  const waiting = `FROM executions e WHERE ${waitsForSlot} AND e.pool = $4 AND e.team = t.team ${language}`
  const pick = (depth: string, condition: string) => `
      SELECT e.id, e.status, e.sequence, e.process_id, e.updated_at, ${depth} AS depth ${waiting} ${condition}
       ORDER BY ${depth} DESC, e.id LIMIT t.asked FOR UPDATE SKIP LOCKED`
  const picks = withDepths
    ? `SELECT * FROM (${pick('0::smallint', 'AND t.least_depth = 0')}) u
       UNION ALL SELECT * FROM (${pick('e.depth', `AND t.least_depth > 0 ${deepEnough}`)}) d`
    : pick('0::smallint', '')
  const more = `SELECT ${waiting} AND e.id NOT IN (SELECT n.id FROM chosen n)`
  const isMore = withDepths
    ? `CASE t.least_depth WHEN 0 THEN EXISTS (${more}) ELSE EXISTS (${more} ${deepEnough}) END`
    : `EXISTS (${more})`
  return `
WITH slots AS MATERIALIZED (
  SELECT t.team, t.running, t.wanted FROM team_slots t WHERE t.team = ANY ($1::text[]) AND t.moved_to IS NULL ORDER BY t.team FOR UPDATE
), turns AS MATERIALIZED (
  SELECT u.team, u.turn, u.in_flight, u.least_depth, greatest(u.most - s.running - s.wanted, 0) AS free,
         least(u.quota, greatest(u.most - s.running - s.wanted, 0)) AS asked
    FROM unnest($1::text[], $2::integer[], $3::integer[], $7::integer[], $8::integer[]) WITH ORDINALITY
           AS u(team, most, quota, in_flight, least_depth, turn) JOIN slots s USING (team)
), picked AS MATERIALIZED (
  SELECT t.team, t.turn, q.*, t.in_flight + row_number() OVER (PARTITION BY t.team ORDER BY q.depth DESC, q.id) AS in_flight
    FROM turns t CROSS JOIN LATERAL (${picks}) q
), chosen AS MATERIALIZED (
  SELECT id, team, process_id, status, updated_at, sequence + CASE status WHEN ${queued} THEN 2 ELSE 1 END AS sequence,
         row_number() OVER (ORDER BY in_flight, turn) AS rank
    FROM picked ORDER BY in_flight, turn LIMIT cardinality($5::uuid[])
), taken AS (
  UPDATE team_slots t SET running = t.running + c.count, queued = t.queued - c.count
    FROM (SELECT team, count(*) AS count FROM chosen GROUP BY team ORDER BY team) c WHERE t.team = c.team
), events AS (
  INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
  SELECT c.id, c.sequence + e.step, e.status, now(), c.team, c.process_id
    FROM chosen c JOIN (VALUES (-1, ${dequeued}), (0, ${running})) AS e(step, status) ON e.status = ${running} OR c.status = ${queued}
)
UPDATE executions e
   SET status = ${running}, sequence = c.sequence, fence = $6, session_id = ($5::uuid[])[c.rank], slot = 1,
       started_at = now(), updated_at = now(), tracked = false, released_at = NULL
  FROM chosen c WHERE e.id = c.id
RETURNING ${row}, CASE c.status WHEN ${queued} THEN extract(epoch FROM now() - c.updated_at)::float8 END AS "queuedS", CASE c.rank WHEN 1 THEN (
  SELECT json_agg(json_build_object('team', t.team, 'left', CASE
           WHEN (SELECT count(*) FROM picked p WHERE p.team = t.team) < t.asked AND NOT ${isMore} THEN 'none'
           WHEN (SELECT count(*) FROM chosen n WHERE n.team = t.team) = t.free THEN 'no slot' ELSE 'some' END)) FROM turns t) END AS turns`
}

const nameOf = ({ withLanguages, withDepths }: Kind) =>
  `claim${withLanguages ? '-only' : ''}${withDepths ? '-deep' : ''}`
const kinds = [false, true].flatMap((withLanguages) =>
  [false, true].map((withDepths) => ({ withLanguages, withDepths })),
)
const texts = new Map(kinds.map((kind) => [nameOf(kind), claim(kind)]))

const readBack = `
SELECT ${row} FROM ${runningRuns} e WHERE e.session_id = ANY ($1::uuid[]) AND e.fence = $2`

const stillWaiting = `SELECT FROM executions e WHERE ${waitsForSlot} AND e.pool = $3 AND e.team = t.team
                      AND ($4::smallint[] IS NULL OR e.language = ANY ($4) OR e.language IS NULL)`
/** Where a claim has brought none: why, team by team. */
const readTurns = `
SELECT t.team, CASE WHEN t.running >= t.most THEN 'no slot'
                    WHEN CASE t.least_depth WHEN 0 THEN EXISTS (${stillWaiting}) ELSE EXISTS (${stillWaiting} ${deepEnough}) END THEN 'some'
                    ELSE 'none' END AS left
  FROM (SELECT s.team, s.running + s.wanted AS running, u.most, u.least_depth
          FROM unnest($1::text[], $2::integer[], $5::integer[]) AS u(team, most, least_depth) JOIN team_slots s USING (team)
         WHERE s.moved_to IS NULL) t`

/**
 * Makes runs that wait RUNNING, in one statement: of the team with the fewest in flight, oldest first, within the teams'
 * limits. Those that were QUEUED have two events more then, those that were CREATED one.
 */
export async function claimRows(pool: Queries, request: ClaimRequest): Promise<{ claimed: Claimed[]; turns: Turn[] }> {
  const { teams, only, sessions, inFlight, quotas, maxRunning, leastDepths, fence } = request
  const values: unknown[] = [teams, maxRunning, quotas, request.pool, sessions, fence, inFlight, leastDepths]
  if (only !== undefined) values.push(only)
  const name = nameOf({ withLanguages: only !== undefined, withDepths: leastDepths.some((depth) => depth > 0) })
  const { rows } = await pool.query<Claimed & { turns: Turn[] | null }>({ name, text: texts.get(name)!, values })
  const turns = rows.find((each) => each.turns !== null)?.turns
  return { claimed: rows, turns: turns ?? (await turnsOf(pool, request)) }
}

async function turnsOf(
  pool: Queries,
  { teams, maxRunning, leastDepths, pool: name, only }: ClaimRequest,
): Promise<Turn[]> {
  const values = [teams, maxRunning, name, only ?? null, leastDepths]
  return (await pool.query<Turn>({ name: 'claim-turns', text: readTurns, values })).rows
}

/** What a claim whose outcome is unknown has made RUNNING. */
export async function readClaimed(pool: Queries, sessions: string[], fence: bigint): Promise<Claimed[]> {
  return (await pool.query<Claimed>({ name: 'read-claimed', text: readBack, values: [sessions, fence] })).rows
}

/** Notes the source of a run that has another one than it was accepted with, for who looks at it. */
export async function noteSourceMark(pool: Queries, id: string, mark: bigint): Promise<void> {
  await pool.query({
    name: 'note-source-mark',
    text: 'UPDATE executions SET source_mark = $2 WHERE id = $1',
    values: [id, mark],
  })
}

/** What waits in a pool for a runner. */
interface QueueLength {
  pool: string
  /** Up to 10,000. */
  count: number
  /** The id of the oldest, held ones left out, of all teams; absent where there is none. */
  oldest: string | null
}

/** What waits in these pools for a runner, over all teams but those without turns and all replicas. */
export async function readQueueLengths(pool: Queries, pools: string[], without: string[]): Promise<QueueLength[]> {
  const queued = `FROM executions e WHERE ${waitsForSlot} AND e.pool = p.pool AND e.team = t.team`
  const waits = 't.queued > 0 AND t.moved_to IS NULL AND t.team <> ALL ($2)'
  const { rows } = await pool.query<QueueLength>({
    name: 'queue-lengths',
    text: `SELECT p.pool,
                  (SELECT count(*)::integer FROM (
                     SELECT FROM team_slots t CROSS JOIN LATERAL (SELECT ${queued}) q WHERE ${waits} LIMIT 10000) counted) AS count,
                  (SELECT q.id FROM team_slots t CROSS JOIN LATERAL (SELECT e.id ${queued} ORDER BY e.id LIMIT 1) q
                    WHERE ${waits} ORDER BY q.id LIMIT 1) AS oldest
             FROM unnest($1::text[]) AS p(pool)`,
    values: [pools, without],
  })
  return rows
}

/** A team that has queued runs in a pool. */
export interface Queued {
  pool: string
  team: string
  /** Those in which it has some, where they were asked for and the rows say so. */
  languages: Language[] | null
}

/** Which teams have queued runs in which of these pools; in what languages, where `withLanguages` of the pool. */
export async function readBacklog(pool: Queries, pools: { name: string; withLanguages: boolean }[]): Promise<Queued[]> {
  const { rows } = await pool.query<Queued>({
    name: 'backlog',
    text: `SELECT p.pool, t.team, CASE WHEN p.with_languages THEN (
                    SELECT CASE WHEN count(*) = count(e.language) THEN array_agg(DISTINCT e.language) END FROM executions e
                     WHERE ${waitsForSlot} AND e.pool = p.pool AND e.team = t.team) END AS languages
             FROM team_slots t CROSS JOIN unnest($1::text[], $2::boolean[]) AS p(pool, with_languages)
            WHERE t.queued > 0 AND t.moved_to IS NULL
              AND EXISTS (SELECT FROM executions e WHERE ${waitsForSlot} AND e.pool = p.pool AND e.team = t.team)`,
    values: [pools.map(({ name }) => name), pools.map(({ withLanguages }) => withLanguages)],
  })
  return rows
}
