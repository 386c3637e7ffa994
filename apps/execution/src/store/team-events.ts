import type { Status } from '@automation/contract/execution/v1/execution'
import { installsProcessId } from '@automation/contract/installs'
import type { Cursor } from '@automation/events'
import type { Queries } from './connections.ts'

/** A lifecycle event, with where it stands among those of all teams. */
export interface TeamEventRow {
  executionId: string
  sequence: number
  status: Status
  at: Date
  explanation: string | null
  team: string
  processId: string
  /** In the numbers of events. */
  xid: bigint
  position: bigint
}

/** The most events of all teams that one window has, but for those of the last transaction in it. */
const windowEvents = 5000
/** The most events of all teams that are looked through for somebody who comes again. */
const mostSought = 20_000

/** What there is behind a number of events. */
export interface News {
  /** Names the server, from one start of it to its end. */
  server: string
  /** In the numbers of this server's transactions: below it, nothing can appear any more. */
  horizon: bigint
  hasEvents: boolean
  /** Where a window has enough events, if there are so many. */
  enough: bigint | undefined
}

/** Looks whether there are events from a number on; undefined: only where the horizon is. */
export async function readNews(pool: Queries, from: bigint | undefined): Promise<News> {
  const { rows } = await pool.query<Omit<News, 'horizon' | 'enough'> & { horizon: string; enough: string | null }>({
    name: 'team-events-news',
    text: `SELECT extract(epoch FROM pg_postmaster_start_time())::text AS server,
                  pg_snapshot_xmin(pg_current_snapshot()) AS horizon,
                  EXISTS (SELECT FROM timeline_events WHERE xid >= $1::text::xid8) AS "hasEvents",
                  (SELECT xid::text::bigint + 1 FROM timeline_events WHERE xid >= $1::text::xid8
                    ORDER BY xid OFFSET ${windowEvents} LIMIT 1) AS enough`,
    values: [from === undefined ? null : String(from)],
  })
  const { server, horizon, hasEvents, enough } = rows[0]!
  return { server, horizon: BigInt(horizon), hasEvents, enough: enough === null ? undefined : BigInt(enough) }
}

interface Row extends Omit<TeamEventRow, 'xid' | 'position'> {
  xid: string
  position: string
}

const columns = `execution_id AS "executionId", sequence, status, at, explanation, team, process_id AS "processId", xid, position`
const notOfInstalls = `process_id <> '${installsProcessId}'`

/** The next events of these teams in a window, in their order. */
export async function readWindow(
  pool: Queries,
  { from, to, position }: Cursor,
  teams: string[],
  limit: number,
): Promise<TeamEventRow[]> {
  const { rows } = await pool.query<Row>({
    name: 'team-events-window',
    text: `SELECT ${columns} FROM timeline_events
            WHERE xid >= $1::text::xid8 AND xid < $2::text::xid8 AND position > $3 AND team = ANY ($4::text[]) AND ${notOfInstalls}
            ORDER BY position LIMIT $5`,
    values: [String(from), String(to), String(position), teams, limit],
  })
  return rows.map(eventOf)
}

/** Where an event of a team stands; undefined where it has none such. */
export async function readPlace(
  pool: Queries,
  team: string,
  id: string,
  sequence: number,
): Promise<{ xid: bigint; position: bigint; at: Date } | undefined> {
  const { rows } = await pool.query<{ xid: string; position: string; at: Date }>({
    name: 'team-events-place',
    text: 'SELECT xid, position, at FROM timeline_events WHERE execution_id = $1 AND sequence = $2 AND team = $3',
    values: [id, sequence, team],
  })
  const [row] = rows
  return row && { xid: BigInt(row.xid), position: BigInt(row.position), at: row.at }
}

/** The first event of a team's latest execution below a number; undefined where it has none. */
export async function readLatest(
  pool: Queries,
  team: string,
  below: bigint,
): Promise<{ executionId: string; sequence: number; xid: bigint } | undefined> {
  const { rows } = await pool.query<{ executionId: string; sequence: number; xid: string }>({
    name: 'team-events-latest',
    text: `SELECT execution_id AS "executionId", sequence, xid FROM timeline_events
            WHERE execution_id = (SELECT id FROM executions WHERE team = $1
                                   AND EXISTS (SELECT FROM timeline_events
                                                WHERE execution_id = id AND sequence = 1 AND xid < $2::text::xid8)
                                   ORDER BY id DESC LIMIT 1)
              AND sequence = 1`,
    values: [team, String(below)],
  })
  const [row] = rows
  return row && { ...row, xid: BigInt(row.xid) }
}

/** Events that somebody has not had: behind a cursor, and below a number. */
export interface Missed {
  team: string
  /** Empty: of all. */
  processId: string
  behind: Cursor
  below: bigint
}

const missed = `xid >= $1::text::xid8 AND xid < $4::text::xid8 AND NOT (xid < $2::text::xid8 AND position <= $3)`
const sought = `team = $5 AND ($6 = '' OR process_id::text = $6) AND ${notOfInstalls}`
const missedValues = ({ team, processId, behind: { from, to, position }, below }: Missed) => [
  ...[from, to, position, below].map(String),
  team,
  processId,
]

/** How many these are, and whether all were counted: not where there are too many of other teams among them. */
export async function countMissed(pool: Queries, what: Missed): Promise<{ count: number; isAll: boolean }> {
  const { rows } = await pool.query<{ count: number; seen: number }>({
    name: 'team-events-count-missed',
    text: `SELECT count(*)::integer AS seen, (count(*) FILTER (WHERE ${sought}))::integer AS count
             FROM (SELECT team, process_id FROM timeline_events WHERE ${missed} ORDER BY xid LIMIT ${mostSought + 1}) AS found`,
    values: missedValues(what),
  })
  const { count, seen } = rows[0]!
  return { count, isAll: seen <= mostSought }
}

/** The next of these by their position. */
export async function readMissed(
  pool: Queries,
  what: Missed,
  afterPosition: bigint,
  limit: number,
): Promise<TeamEventRow[]> {
  const { rows } = await pool.query<Row>({
    name: 'team-events-missed',
    text: `SELECT ${columns} FROM timeline_events WHERE ${missed} AND ${sought} AND position > $7 ORDER BY position LIMIT $8`,
    values: [...missedValues(what), String(afterPosition), limit],
  })
  return rows.map(eventOf)
}

function eventOf(row: Row): TeamEventRow {
  return { ...row, xid: BigInt(row.xid), position: BigInt(row.position) }
}
