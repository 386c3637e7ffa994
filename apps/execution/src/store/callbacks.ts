import type { Status } from '@automation/contract/execution/v1/execution'
import { deleteSomeOf } from '@automation/database'
import { nextAppended, takingNumbers, type LogLine } from './log-pages.ts'
import type { Queries } from './connections.ts'

/** A callback that is to be delivered when its run has ended. */
interface WantedCallback {
  id: string
  sequence: number
  team: string
  url: string
}

/** A callback that this replica may try now. */
export interface DueCallback {
  id: string
  sequence: number
  team: string
  origin: string
  /** This one included. */
  tries: number
}

/** What a callback tells, and where. */
export interface CallbackContent {
  url: string
  processId: string
  status: Status
  returnValue: string | null
  explanation: string | null
  /** Of who started the run. */
  traceparent: string | null
}

/** Those of these ended runs that want a callback. */
export async function readWanted(pool: Queries, ends: Map<string, number>): Promise<WantedCallback[]> {
  const { rows } = await pool.query<WantedCallback>({
    name: 'callbacks-wanted',
    text: `SELECT e.id, w.sequence, e.team, e.callback_url AS url
             FROM unnest($1::uuid[], $2::integer[]) AS w(id, sequence) JOIN executions e ON e.id = w.id
            WHERE e.callback_url IS NOT NULL`,
    values: [[...ends.keys()], [...ends.values()]],
  })
  return rows
}

/** Notes callbacks as due; those that are known already stay as they are. */
export async function insertCallbacks(pool: Queries, wanted: (WantedCallback & { origin: string })[]): Promise<void> {
  await pool.query({
    name: 'callbacks-insert',
    text: `INSERT INTO callbacks (execution_id, sequence, team, origin)
           SELECT * FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::text[]) ON CONFLICT DO NOTHING`,
    values: [
      wanted.map(({ id }) => id),
      wanted.map(({ sequence }) => sequence),
      wanted.map(({ team }) => team),
      wanted.map(({ origin }) => origin),
    ],
  })
}

/** Names the receiver of a callback, for its team alone. */
export function receiverOf({ team, origin }: Pick<DueCallback, 'team' | 'origin'>): string {
  return `${team} ${origin}`
}

// However many receivers a team names: so many rows that are due are chosen from, beyond so many of those that are busy.
const lookedAtPerTeam = 64
const readPerTeam = 1024

const claim = `
WITH RECURSIVE teams AS (
  (SELECT team FROM callbacks WHERE done_at IS NULL ORDER BY team LIMIT 1)
  UNION ALL
  SELECT n.team FROM teams t CROSS JOIN LATERAL (
    SELECT team FROM callbacks WHERE done_at IS NULL AND team > t.team ORDER BY team LIMIT 1) n
), due AS (
  SELECT t.team, c.origin, c.execution_id, c.next_try_at,
         row_number() OVER (PARTITION BY t.team, c.origin ORDER BY c.next_try_at) AS nth
    FROM teams t CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT origin, execution_id, next_try_at FROM callbacks
         WHERE done_at IS NULL AND team = t.team AND next_try_at <= now()
         ORDER BY next_try_at LIMIT ${readPerTeam}) read
       WHERE t.team || ' ' || origin <> ALL ($2::text[]) ORDER BY next_try_at LIMIT ${lookedAtPerTeam}) c
   WHERE t.team <> ALL ($3::text[]) AND EXISTS (SELECT FROM team_slots s WHERE s.team = t.team AND s.moved_to IS NULL)
), receivers AS (
  SELECT team, origin, next_try_at AS since, row_number() OVER (PARTITION BY team ORDER BY next_try_at) AS rank
    FROM due WHERE nth = 1
), taken AS (
  SELECT c.execution_id FROM callbacks c
    JOIN due d ON d.execution_id = c.execution_id AND d.nth <= $5
    JOIN receivers r ON r.team = d.team AND r.origin = d.origin AND r.rank <= $4
   WHERE c.done_at IS NULL AND c.next_try_at <= now()
   ORDER BY r.rank, r.since, d.next_try_at LIMIT $1 FOR UPDATE OF c SKIP LOCKED
)
UPDATE callbacks c SET tries = c.tries + 1, next_try_at = now() + make_interval(secs => $6 / 1000.0)
  FROM taken t WHERE c.execution_id = t.execution_id AND c.done_at IS NULL
RETURNING c.execution_id AS id, c.sequence, c.team, c.origin, c.tries`

export interface ClaimLimits {
  limit: number
  /** Receivers and teams that may have no more now. */
  busyReceivers: string[]
  busyTeams: string[]
  receiversPerTeam: number
  perReceiver: number
  /** After this long another replica may try again: longer than a try can take. */
  leaseMs: number
}

/** Takes callbacks that are due, from the receivers of all teams of this cell in turn. */
export async function claimCallbacks(pool: Queries, limits: ClaimLimits): Promise<DueCallback[]> {
  const { limit, busyReceivers, busyTeams, receiversPerTeam, perReceiver, leaseMs } = limits
  const values = [limit, busyReceivers, busyTeams, receiversPerTeam, perReceiver, leaseMs]
  return (await pool.query<DueCallback>({ name: 'callbacks-claim', text: claim, values })).rows
}

/** What there is to tell; undefined where the execution is gone. */
export async function readContent(pool: Queries, id: string): Promise<CallbackContent | undefined> {
  const { rows } = await pool.query<CallbackContent>({
    name: 'callback-content',
    text: `SELECT callback_url AS url, process_id AS "processId", status, return_value AS "returnValue", explanation, traceparent
             FROM executions WHERE id = $1 AND callback_url IS NOT NULL`,
    values: [id],
  })
  return rows[0]
}

/** The receiver has it. */
export async function finishCallback(pool: Queries, id: string): Promise<void> {
  await pool.query('UPDATE callbacks SET done_at = now() WHERE execution_id = $1 AND done_at IS NULL', [id])
}

/** Ends a callback that is not to be tried any more, with a line in the run's log. */
export async function giveUpCallback(pool: Queries, id: string, line: LogLine): Promise<void> {
  const statement = {
    name: 'callback-give-up',
    text: `WITH given AS (UPDATE callbacks SET done_at = now() WHERE execution_id = $1 AND done_at IS NULL RETURNING execution_id)
           INSERT INTO log_chunks (execution_id, first, lines, body)
           SELECT g.execution_id, ${nextAppended('$1')}, 1, $2 FROM given g`,
    values: [id, JSON.stringify([line])],
  }
  await takingNumbers(() => pool.query(statement))
}

/** The next try is so long from now. */
export async function postponeCallback(pool: Queries, id: string, ms: number): Promise<void> {
  await pool.query({
    name: 'callback-postpone',
    text: `UPDATE callbacks SET next_try_at = now() + make_interval(secs => $2 / 1000.0)
            WHERE execution_id = $1 AND done_at IS NULL`,
    values: [id, ms],
  })
}

/** How many are not delivered, up to 100,000, and how long ago the first try was due that nobody has begun, in ms. */
export async function countCallbacks(pool: Queries): Promise<{ count: number; lateMs: number }> {
  const { rows } = await pool.query<{ count: number; lateMs: number }>(
    `SELECT count(*)::integer AS count,
            greatest(coalesce(extract(epoch FROM now() - min(next_try_at)), 0), 0)::float8 * 1000 AS "lateMs"
       FROM (SELECT next_try_at FROM callbacks WHERE done_at IS NULL LIMIT 100000) AS waiting`,
  )
  return rows[0]!
}

/** Removes some rows of callbacks whose runs are past retention; gives how many. */
export async function forgetCallbacks(pool: Queries, retentionDays: number, batch: number): Promise<number> {
  const old = 'done_at < now() - make_interval(days => $1)'
  const { rowCount } = await pool.query(deleteSomeOf('callbacks', old, '$2'), [retentionDays + 1, batch])
  return rowCount ?? 0
}
