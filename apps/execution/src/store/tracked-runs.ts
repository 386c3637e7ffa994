import { Status } from '@automation/contract/execution/v1/execution'
import type { Logger } from '@automation/service'
import { refuse, type Connections, type Queries } from './connections.ts'
import { eventNumbers } from './event-numbers.ts'
import { among, endedStatuses, livingStatuses, waits } from './statuses.ts'

const { RUNNING } = Status

/** The most events that a reader looks at, of the statuses that it asks for. */
const mostLate = 100_000

/**
 * In a statement, the late events of these statuses: those that are not marked yet. Usually it is a second's worth. Where
 * marking is far behind the statement fails, for half of them would look like all. ORDER BY and LIMIT keep the plan
 * from beginning with all that is kept.
 */
const lateEvents = (some: readonly Status[], further = '') => {
  const events = `FROM timeline_events WHERE status IN ${among(some)} ${further}`
  return `
      SELECT execution_id, sequence, status FROM (
        SELECT execution_id, sequence, status, row_number() OVER (ORDER BY xid) AS nth ${events}
           AND xid >= (SELECT below FROM tracking) ORDER BY xid LIMIT ${mostLate + 1}) l
       WHERE within_limit(l.nth, ${mostLate})
      UNION ALL
      SELECT execution_id, sequence, status ${events} AND xid = ANY ((SELECT open FROM tracking)::xid8[])`
}

/** In a statement, the runs of which a late event says that they have this status, and that no index knows: rows of executions. */
const untracked = (some: readonly Status[], further?: string) => `
  SELECT e.* FROM (${lateEvents(some, further)}) t
    CROSS JOIN LATERAL (SELECT * FROM executions WHERE id = t.execution_id LIMIT 1) e
   WHERE e.sequence = t.sequence AND e.status = t.status AND NOT e.tracked`

/** In a statement, that a run `e` is RUNNING and that an index knows. */
export const trackedRunning = `e.tracked AND e.session_id IS NOT NULL AND e.status = ${RUNNING}`

/** In a statement, all that is RUNNING: rows of executions. */
export const runningRuns = `(SELECT e.* FROM executions e WHERE ${trackedRunning} UNION ALL ${untracked([RUNNING])})`

/** In a statement, what waits and no index knows, as replicas of the release before write it: rows of executions. */
export const untrackedWaiting = untracked([Status.CREATED, Status.QUEUED])

/** RUNNING runs of a team that no index knows. */
export async function readLateRunning(pool: Queries, team: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'late-running',
    text: `SELECT id FROM (${untracked([RUNNING], 'AND team = $1')}) e`,
    values: [team],
  })
  return rows.map(({ id }) => id)
}

/** The most events of one step, but for those of the last transaction in it. */
const stepEvents = 10_000

/**
 * The next step, where there is any: none where nothing was written since, or somebody has looked within a second. It is
 * bounded, so that it takes its time however much there is to catch up with.
 */
const look = `
WITH m AS MATERIALIZED (
  SELECT version, below, open, next, least(next,
           (SELECT (xid::text::bigint + 1)::text::xid8 FROM timeline_events WHERE xid >= below ORDER BY xid OFFSET $1 LIMIT 1)) AS upto
    FROM tracking
   WHERE at NOT BETWEEN now() - interval '1 s' AND now()
     AND (EXISTS (SELECT FROM timeline_events WHERE xid >= below) OR EXISTS (SELECT FROM timeline_events WHERE xid = ANY (open)))
)
SELECT m.version::text, m.upto, m.upto = m.next AS last, pg_snapshot_xmax(pg_current_snapshot()) AS xmax,
       ARRAY (SELECT xid::text FROM pg_snapshot_xip(pg_current_snapshot()) AS xid) AS open, ARRAY (
         SELECT t.execution_id
           FROM (SELECT execution_id, sequence, status FROM timeline_events WHERE xid >= m.below AND xid < m.upto
                 UNION ALL SELECT execution_id, sequence, status FROM timeline_events WHERE xid = ANY (m.open)) t
           CROSS JOIN LATERAL (SELECT sequence, tracked FROM executions WHERE id = t.execution_id LIMIT 1) e
          WHERE t.status IN ${livingStatuses} AND e.sequence = t.sequence AND NOT e.tracked) AS late
  FROM m`

/** In a statement, that a run `e` waits for a slot alone and is not QUEUED yet. */
const isReleased = `e.status = ${Status.CREATED} AND NOT e.held`

const track = `
WITH late AS MATERIALIZED (
  SELECT id FROM executions WHERE id = ANY ($1::uuid[]) AND status IN ${livingStatuses} AND NOT tracked ORDER BY id FOR UPDATE
)
UPDATE executions e SET tracked = true, released_at = CASE WHEN ${isReleased} THEN now() END FROM late l WHERE e.id = l.id`

const moved = `
UPDATE tracking
   SET version = version + 1, below = $2::text::xid8, open = ARRAY (SELECT o FROM unnest(next_open) AS o WHERE o < $2::text::xid8),
       next = coalesce($3::text::xid8, next), next_open = coalesce($4::text[]::xid8[], next_open),
       at = CASE WHEN $3::text IS NULL THEN at ELSE now() END
 WHERE version = $1::text::bigint`

interface Look {
  version: string
  upto: string
  /** Whether all is marked then that was to be. */
  last: boolean
  xmax: string
  open: string[]
  late: string[]
}

/**
 * Lets indexes know of runs that were made RUNNING more than a second ago and have not ended: an end is cheap where none
 * knows of it, and most runs are over by then. What a snapshot of a second ago saw is decided, and what was open then is
 * looked at again, so none is passed over. Any number of replicas may do so at the same time.
 */
export async function trackRuns(
  connections: Connections,
  logger: Logger,
  { signal, events = stepEvents }: { signal?: AbortSignal; events?: number } = {},
): Promise<void> {
  while (signal?.aborted !== true && (await trackSome(connections, logger, events)));
}

/** One step; gives whether another one follows at once. */
async function trackSome(connections: Connections, logger: Logger, events: number): Promise<boolean> {
  const { rows } = await connections.query<Look>({ name: 'tracking-look', text: look, values: [events] })
  const [found] = rows
  if (found === undefined) return false
  const { version, upto, last, xmax, open, late } = found
  if (late.length > 0) await connections.query({ name: 'track', text: track, values: [late] })
  const values: unknown[] = [version, upto, null, null]
  if (last) {
    const added = await numbersAhead(connections, logger)
    const numbers = [xmax, ...open].map((xid) => String(BigInt(xid) + added))
    values.splice(2, 2, numbers[0], numbers.slice(1))
  }
  // Only now: whoever reads meanwhile finds them by their events.
  const { rowCount } = await connections.query({ name: 'tracking-moved', text: moved, values })
  return rowCount === 1 && !last
}

/** For how long the oldest late event has waited to be marked: a second or two. */
export async function readTrackingLagMs(pool: Queries): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>({
    name: 'tracking-lag',
    text: `SELECT coalesce(greatest(extract(epoch FROM now() - (
                    SELECT at FROM timeline_events WHERE xid >= (SELECT below FROM tracking) ORDER BY xid LIMIT 1)) * 1000, 0), 0)::float8 AS ms`,
  })
  return rows[0]!.ms
}

/**
 * Makes right what replicas of the release before leave behind, who know of no such column: runs that are tracked though they
 * have ended, and times of release that are over or missing. Gives how many, a batch at most.
 */
export async function mendTracked(connections: Connections): Promise<number> {
  const { rows } = await connections.query<{ id: string }>({
    name: 'tracked-wrongly',
    text: `SELECT id FROM executions e WHERE tracked AND session_id IS NULL AND status IN ${endedStatuses}
           UNION ALL SELECT id FROM executions e WHERE tracked AND session_id IS NOT NULL AND status IN ${endedStatuses}
           UNION ALL SELECT id FROM executions e WHERE released_at IS NOT NULL AND NOT (${isReleased})
           UNION ALL SELECT id FROM executions e WHERE ${waits} AND ${isReleased} AND released_at IS NULL
           LIMIT 10000`,
  })
  if (rows.length === 0) return 0
  const { rowCount } = await connections.query({
    name: 'mend-tracked',
    text: `WITH wrong AS MATERIALIZED (SELECT id FROM executions WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE)
           UPDATE executions e SET tracked = tracked AND status IN ${livingStatuses},
                  released_at = CASE WHEN ${isReleased} THEN coalesce(released_at, now()) END
             FROM wrong w WHERE e.id = w.id`,
    values: [rows.map(({ id }) => id)],
  })
  return rowCount ?? 0
}

/** What the numbers of events are ahead of those of this server's transactions. */
export async function numbersAhead(connections: Connections, logger: Logger): Promise<bigint> {
  const client = await connections.pool.connect()
  let failure: Error | undefined
  try {
    return await eventNumbers(client, logger)
  } catch (error) {
    failure = error as Error
    return refuse(error)
  } finally {
    client.release(failure)
  }
}
