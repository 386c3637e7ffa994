import { Status } from '@automation/contract/execution/v1/execution'
import {
  arrivalParameters,
  arrivalWeight,
  manyArrivals,
  oneArrival,
  rowColumns,
  type Arrival,
  type ArrivalSource,
} from './new-run-columns.ts'
import { lastWord, lastWordBody } from './log-pages.ts'
import { way } from '../status.ts'
import { firstEvents, waitingStatuses, waits } from './statuses.ts'
import {
  deletedProcess,
  keyValues,
  manyKeyValues,
  noLongerThan,
  takenKey,
  takenKeys,
  type StartKey,
} from './start-keys.ts'
import type { Queries } from './connections.ts'
import { storedText } from './stored-text.ts'

/** What became of an arrival. */
export interface StartOutcome {
  id: string
  /** CREATED where it waits for packages. */
  status: Status.CREATED | Status.RUNNING | Status.QUEUED | Status.REJECTED
  explanation?: string
  /** The session to which its first fence belongs: set where the statement that created it made it RUNNING. */
  sessionId?: string | null
}

export interface TeamLimits {
  maxRunning: number
  maxQueued: number
  /** The team has one pool: a team's position in its queue is the one in the pool. */
  onePool: boolean
}

/** The fence of a run that its creating statement assigns. */
export const firstFence = 1n

const next = (offset: number) => `$${arrivalParameters + offset}`

const { CREATED, QUEUED, RUNNING, REJECTED } = Status
for (const to of [QUEUED, RUNNING, REJECTED]) way(CREATED, to)

/** Before any team is locked. */
const patience = noLongerThan(800)

const insertRows = `INSERT INTO executions (${rowColumns}, status, sequence, fence, session_id, replica_id, slot, explanation, started_at, updated_at, tracked)`
const insertEvents = 'INSERT INTO timeline_events (execution_id, sequence, status, at, explanation, team, process_id)'

/** All of one team, all with a slot: the team's count rises once, or nothing happens at all. */
const granted = ({ rows, columns, keys, count, team, isProcess }: ArrivalSource) => `
WITH granted AS (
  UPDATE team_slots SET running = running + ${count} FROM ${patience}
   WHERE team = ${team} AND moved_to IS NULL AND running + wanted + ${count} <= ${next(1)}::integer
     AND NOT EXISTS (SELECT FROM deleted_processes d WHERE d.team = ${team} AND ${isProcess('d.process_id')})
  RETURNING 1
), rows AS (
  ${insertRows}
  SELECT ${columns}, ${RUNNING}, 2, ${firstFence}, session_id, ${next(2)}::uuid, 1, NULL, now(), now(), false FROM granted, ${rows}
), events AS (
  ${insertEvents}
  SELECT i.id, e.sequence, e.status, now(), NULL, i.team, i.process_id
    FROM granted, ${keys} CROSS JOIN ${firstEvents(CREATED, RUNNING)} AS e(sequence, status)
)
SELECT count(*)::integer AS teams FROM granted`

/** How many runs of a team wait in a pool: exact as far as anybody is told. */
const aheadInPool = `
  SELECT w.team, w.pool, q.count
    FROM (SELECT DISTINCT team, pool FROM ranked WHERE NOT runs) w CROSS JOIN LATERAL (
      SELECT count(*) AS count FROM (
        SELECT FROM executions e WHERE ${waits} AND e.pool = w.pool AND e.team = w.team LIMIT 1001) c) q`
const aheadOfTeam = 'SELECT DISTINCT team, pool, queued AS count FROM ranked WHERE NOT runs'

/** The array makes it read all input before it locks the first team: keys come before slots, whatever the plan. */
const decided = (input: string, columns: string, ahead: string) => `
WITH ${input}, slots AS MATERIALIZED (
  SELECT team, running, wanted, queued FROM team_slots
   WHERE team = ANY ((SELECT array_agg(DISTINCT team) FROM input)::text[]) AND moved_to IS NULL ORDER BY team FOR UPDATE
), ranked AS (
  SELECT i.*, s.queued, s.running + s.wanted >= ${next(1)}::integer AS at_limit, i.session_id IS NOT NULL
         AND count(i.session_id) OVER (PARTITION BY i.team ORDER BY i.n) <= ${next(1)}::integer - s.running - s.wanted AS runs
    FROM input i JOIN slots s USING (team)
), ahead AS MATERIALIZED (${ahead}
), counted AS (
  SELECT r.*, r.queued + count(*) FILTER (WHERE NOT runs) OVER (PARTITION BY team ORDER BY n) AS position,
         a.count + count(*) FILTER (WHERE NOT runs) OVER (PARTITION BY team, pool ORDER BY n) AS position_in_pool
    FROM ranked r LEFT JOIN ahead a USING (team, pool)
), decided AS MATERIALIZED (
  SELECT c.*, CASE WHEN runs THEN ${RUNNING} WHEN position > ${next(2)}::integer THEN ${REJECTED} WHEN held THEN ${CREATED} ELSE ${QUEUED} END AS status,
         CASE WHEN runs THEN NULL
              WHEN position > ${next(2)}::integer THEN format('The team has %s runs that wait, the most it may have', ${next(2)}::integer)
              WHEN held THEN waits_for
              ELSE format(CASE WHEN position_in_pool > 1000 THEN 'After more than 1,000 runs of the team in the pool %2$s: %3$s'
                               ELSE 'Place %1$s in the team''s queue in the pool %2$s: %3$s' END, position_in_pool, pool,
                     CASE WHEN at_limit OR waits_for IS NULL
                          THEN format('the team runs %s at once, its limit', ${next(1)}::integer) ELSE waits_for END)
         END AS why
    FROM counted c
), taken AS (
  UPDATE team_slots t SET running = t.running + c.starts, queued = t.queued + c.waits
    FROM (SELECT team, count(*) FILTER (WHERE status = ${RUNNING}) AS starts, count(*) FILTER (WHERE status IN ${waitingStatuses}) AS waits
            FROM decided GROUP BY team) c
   WHERE t.team = c.team
), rows AS (
  ${insertRows}
  SELECT ${columns}, status, CASE status WHEN ${CREATED} THEN 1 ELSE 2 END, CASE WHEN runs THEN ${firstFence} ELSE 0 END, CASE WHEN runs THEN session_id END,
         ${next(3)}::uuid, runs::integer, CASE WHEN status = ${REJECTED} THEN why END, CASE WHEN runs THEN now() END, now(), status IN ${waitingStatuses}
    FROM decided
), events AS (
  ${insertEvents}
  SELECT p.id, e.sequence, CASE e.sequence WHEN 1 THEN ${CREATED} ELSE p.status END, now(),
         CASE WHEN e.sequence = 2 OR p.status = ${CREATED} THEN p.why END, p.team, p.process_id
    FROM decided p JOIN (VALUES (1), (2)) AS e(sequence) ON e.sequence = 1 OR p.status <> ${CREATED}
), words AS (
  INSERT INTO log_chunks (execution_id, first, lines, body)
  SELECT id, ${lastWord}, 1, ${lastWordBody('why')} FROM decided WHERE status = ${REJECTED}
)
SELECT id, status, why AS explanation, CASE WHEN runs THEN session_id END AS "sessionId" FROM decided`

const decideAll = ({ rows, columns }: ArrivalSource, ahead: string) =>
  decided(
    `input AS MATERIALIZED (SELECT i.* FROM ${patience} CROSS JOIN ${rows} WHERE NOT EXISTS (${deletedProcess}))`,
    columns,
    ahead,
  )

/** Only where the key is new, the calling run still runs and the process is not deleted. */
const decideOnce = (taken: string, { rows, columns }: ArrivalSource, ahead: string) =>
  decided(
    `${taken}, input AS MATERIALIZED (SELECT i.* FROM ${rows} JOIN key k ON k.execution_id = i.id)`,
    columns,
    ahead,
  )

/** After a commit with unknown outcome: what is not there yet is there as QUEUED, or as CREATED where it waits for packages. */
const requeue = ({ rows, columns }: ArrivalSource) => `
WITH slots AS MATERIALIZED (
  SELECT team FROM ${patience} CROSS JOIN team_slots
   WHERE team = ANY ((SELECT array_agg(DISTINCT team) FROM ${rows})::text[]) AND moved_to IS NULL
   ORDER BY team FOR UPDATE OF team_slots
), rows AS (
  ${insertRows}
  SELECT ${columns}, CASE WHEN held THEN ${CREATED} ELSE ${QUEUED} END, CASE WHEN held THEN 1 ELSE 2 END, 0, NULL, ${next(1)}::uuid, 0, NULL, NULL, now(), true FROM ${rows}
   WHERE team IN (SELECT team FROM slots) AND NOT EXISTS (${deletedProcess})
  ON CONFLICT (id) DO NOTHING RETURNING id, team, process_id, pool, held
), taken AS (
  UPDATE team_slots t SET queued = t.queued + c.waits
    FROM (SELECT team, count(*) AS waits FROM rows GROUP BY team ORDER BY team) c WHERE t.team = c.team
), events AS (
  ${insertEvents}
  SELECT r.id, e.sequence, e.status, now(),
         CASE WHEN r.held THEN 'Waits for packages that are being installed'
              WHEN e.sequence = 2 THEN format('Waits for a free slot in the pool %s', r.pool) END, r.team, r.process_id
    FROM rows r JOIN ${firstEvents(CREATED, QUEUED)} AS e(sequence, status) ON e.sequence = 1 OR NOT r.held
)
SELECT count(*) FROM rows`

const statementsFor = (source: ArrivalSource) => ({
  source,
  granted: granted(source),
  uncounted: decideAll(source, aheadOfTeam),
  counted: decideAll(source, aheadInPool),
  requeue: requeue(source),
})
const statements = { one: statementsFor(oneArrival), many: statementsFor(manyArrivals) }
const onceFor = (taken: string, source: ArrivalSource) => ({
  uncounted: decideOnce(taken, source, aheadOfTeam),
  counted: decideOnce(taken, source, aheadInPool),
})
const once = {
  one: onceFor(takenKey(arrivalParameters + 4), oneArrival),
  many: onceFor(takenKeys(arrivalParameters + 4), manyArrivals),
}

/** What is heavy takes its time on the way and on the disk, as far as its caller's goes. */
const attemptFor = (arrivals: Arrival[]) => {
  const bytes = arrivals.reduce((sum, arrival) => sum + arrivalWeight(arrival), 0)
  const leftMs = Math.max(...arrivals.map(({ answerAtMs }) => answerAtMs)) - performance.now()
  return { query_timeout: Math.ceil(Math.min(1500 + bytes / slowestBytesPerMs, Math.max(leftMs, leastMs))) }
}
const slowestBytesPerMs = 8 * 1024
const leastMs = 500

/**
 * Accepts runs in one statement: those with a slot start, as far as their team's limit goes, the others wait, and
 * what the team's queue has no room for is REJECTED. Arrivals of deleted processes get no answer, nor do those of teams that
 * have left the cell.
 */
export async function insertArrivals(
  pool: Queries,
  arrivals: Arrival[],
  limits: TeamLimits,
  replicaId: string,
): Promise<StartOutcome[]> {
  const size = arrivals.length === 1 ? 'one' : 'many'
  const { source, granted: allGranted, ...others } = statements[size]
  const oneTeam = arrivals.every(({ run }) => run.team === arrivals[0]!.run.team)
  const haveSlots = arrivals.every(({ sessionId }) => sessionId !== undefined)
  const columns = source.values(arrivals)
  if (haveSlots && oneTeam) {
    const values = [...columns, limits.maxRunning, replicaId]
    const { rows } = await pool.query<{ teams: number }>({
      name: `start-granted-${size}`,
      text: allGranted,
      values,
      ...attemptFor(arrivals),
    })
    if (rows[0]!.teams === 1)
      return arrivals.map(({ run, sessionId }) => ({ id: run.id, status: Status.RUNNING, sessionId }))
  }
  const values = [...columns, limits.maxRunning, limits.maxQueued, replicaId]
  // Counting looks at every partition: not for teams that all have their slots and are within their limits.
  const kind = limits.onePool || (haveSlots && !oneTeam) ? 'uncounted' : 'counted'
  const name = `start-${kind}-${size}`
  return (await pool.query<StartOutcome>({ name, text: others[kind], values, ...attemptFor(arrivals) })).rows
}

/** An arrival that may start only once under its key. */
interface KeyedArrival extends Arrival {
  key: StartKey
}

/** The same for runs under keys; none is there whose key was there before, or for which nothing may be started. */
export async function insertKeyedArrivals(
  pool: Queries,
  arrivals: KeyedArrival[],
  limits: TeamLimits,
  replicaId: string,
): Promise<StartOutcome[]> {
  const size = arrivals.length === 1 ? 'one' : 'many'
  const keys = arrivals.map(({ key }) => key)
  const keyColumns = size === 'one' ? keyValues(keys[0]!) : manyKeyValues(keys)
  const columns = statements[size].source.values(arrivals)
  const values = [...columns, limits.maxRunning, limits.maxQueued, replicaId, ...keyColumns]
  const kind = limits.onePool || arrivals.every(({ sessionId }) => sessionId !== undefined) ? 'uncounted' : 'counted'
  const name = `start-keyed-${kind}-${size}`
  return (await pool.query<StartOutcome>({ name, text: once[size][kind], values, ...attemptFor(arrivals) })).rows
}

/** Makes sure that arrivals whose commit is unknown are there, once. */
export async function requeueArrivals(pool: Queries, arrivals: Arrival[], replicaId: string): Promise<void> {
  const size = arrivals.length === 1 ? 'one' : 'many'
  const { source, requeue: text } = statements[size]
  const values = [...source.values(arrivals), replicaId]
  await pool.query({ name: `start-requeue-${size}`, text, values, ...attemptFor(arrivals) })
}

const replica = `$${arrivalParameters + 1}::uuid`
const why = `$${arrivalParameters + 2}::text`

const rejected = `
WITH ${takenKey(arrivalParameters + 3)}, slots AS MATERIALIZED (
  SELECT FROM team_slots WHERE team = (SELECT i.team FROM ${oneArrival.rows} JOIN key k ON k.execution_id = i.id) AND moved_to IS NULL FOR UPDATE
), rows AS (
  INSERT INTO executions (${rowColumns}, status, sequence, fence, replica_id, slot, explanation, updated_at)
  SELECT ${oneArrival.columns}, ${Status.REJECTED}, 2, 0, ${replica}, 0, ${why}, now() FROM slots, ${oneArrival.rows} JOIN key k ON k.execution_id = i.id
  RETURNING id, team, process_id
), events AS (
  INSERT INTO timeline_events (execution_id, sequence, status, at, explanation, team, process_id)
  SELECT r.id, e.sequence, e.status, now(), CASE e.sequence WHEN 2 THEN ${why} END, r.team, r.process_id
    FROM rows r CROSS JOIN ${firstEvents(Status.CREATED, Status.REJECTED)} AS e(sequence, status)
), word AS (
  INSERT INTO log_chunks (execution_id, first, lines, body) SELECT id, ${lastWord}, 1, ${lastWordBody(why)} FROM rows
)
SELECT id FROM rows`

/** Writes a run under a key that was REJECTED at once; undefined where the key was there before, or its process is gone. */
export async function insertRejected(
  pool: Queries,
  arrival: Arrival,
  key: StartKey,
  reason: string,
  replicaId: string,
): Promise<StartOutcome | undefined> {
  const explanation = storedText(reason)
  const values = [...oneArrival.values([arrival]), replicaId, explanation, ...keyValues(key)]
  const query = { name: 'start-rejected', text: rejected, values, ...attemptFor([arrival]) }
  const { rows } = await pool.query<{ id: string }>(query)
  return rows[0] && { id: rows[0].id, status: Status.REJECTED, explanation }
}
