import { Failure } from '@automation/errors'
import { createdAtMs, lowestIdAt } from '../execution-id.ts'
import { grains } from './run-counts.ts'
import type { Connections, Queries } from './connections.ts'
import { removeExecutions } from './deleted-processes.ts'
import { isWaiting } from './event-numbers.ts'
import { errorHandlerScope } from './start-keys.ts'
import { endedStatuses, waits } from './statuses.ts'
import { runningRuns } from './tracked-runs.ts'

/** A team that has left this cell. */
export interface LeftTeam {
  team: string
  /** Where it went; '' is the first cell. */
  cell: string
  movedAt: Date
}

/** All that have left. */
export async function readLeftTeams(pool: Queries): Promise<LeftTeam[]> {
  const { rows } = await pool.query<LeftTeam>({
    name: 'left-teams',
    text: 'SELECT team, moved_to AS cell, moved_at AS "movedAt" FROM team_slots WHERE moved_to IS NOT NULL',
    query_timeout: 2000,
  })
  return rows
}

/** Where a team went that has left; undefined where it has not. */
export async function readLeftTeam(pool: Queries, team: string): Promise<LeftTeam | undefined> {
  const { rows } = await pool.query<LeftTeam>({
    name: 'left-team',
    text: 'SELECT team, moved_to AS cell, moved_at AS "movedAt" FROM team_slots WHERE team = $1 AND moved_to IS NOT NULL',
    values: [team],
  })
  return rows[0]
}

/** Whether there is a replica that does not say what it knows: of a release before, or about to begin. */
export async function hasSilentReplica(pool: Queries): Promise<boolean> {
  const { rows } = await pool.query<{ some: boolean }>(
    'SELECT EXISTS (SELECT FROM replicas WHERE expires_at > now() AND moves_known_at IS NULL) AS some',
  )
  return rows[0]!.some
}

/** Whether there is a replica that may not know yet that a team left at this time, or may still be at work for it. */
export async function isUnknownToSome(pool: Queries, movedAt: Date): Promise<boolean> {
  const { rows } = await pool.query<{ some: boolean }>(
    `SELECT $1::timestamptz > now() - interval '3 s' OR EXISTS (
       SELECT FROM replicas WHERE expires_at > now() AND (moves_known_at IS NULL OR moves_known_at < $1)) AS some`,
    [movedAt],
  )
  return rows[0]!.some
}

/** What keeps a team in its cell. */
interface Stay {
  running: number
  /** Events that some of these readers have not seen; up to 1,000. */
  undelivered: number
}

/**
 * Ends a team's stay where nothing keeps it. Its row is locked meanwhile, as by whatever makes a run of it or lets one
 * begin: all that did so before is seen, and all that comes after finds that it has left.
 */
export function leaveCell(connections: Connections, team: string, cell: string, readers: string[]): Promise<Stay> {
  return connections.transaction(async (client) => {
    await client.query('INSERT INTO team_slots (team) VALUES ($1) ON CONFLICT DO NOTHING', [team])
    await client.query('SELECT FROM team_slots WHERE team = $1 FOR UPDATE', [team])
    const stay = await readStay(client, team, readers)
    if (stay.running === 0 && stay.undelivered === 0)
      await client.query(
        'UPDATE team_slots SET moved_to = $2, moved_at = clock_timestamp() WHERE team = $1 AND moved_to IS NULL',
        [team, cell],
      )
    return stay
  })
}

/** What keeps a team in its cell now: runs, and ends of which what follows from them was not done. */
export async function readStay(pool: Queries, team: string, readers: string[]): Promise<Stay> {
  const { rows } = await pool.query<{ running: number }>(
    `SELECT count(*)::integer AS running FROM ${runningRuns} r WHERE team = $1`,
    [team],
  )
  return {
    running: rows[0]!.running,
    undelivered: await countUndelivered(pool, team, readers, `AND t.status IN ${endedStatuses}`),
  }
}

/** Events of a team that some of these readers have not seen; up to 1,000. */
export async function countUndelivered(pool: Queries, team: string, readers: string[], further = ''): Promise<number> {
  const { rows } = await pool.query<{ undelivered: number }>(
    `SELECT count(*)::integer AS undelivered FROM (
       SELECT FROM bus_cursors c JOIN timeline_events t ON ${isWaiting}
        WHERE c.consumer = ANY ($2) AND t.team = $1 ${further} LIMIT 1000) u`,
    [team, readers],
  )
  return rows[0]!.undelivered
}

/** Begins a team's stay, or lets it go on. Keys of starts that came too late are gone, so that their callers may try again. */
export function joinCell(connections: Connections, team: string): Promise<void> {
  return patiently(connections, async (client) => {
    const left = await readLeftTeam(client, team)
    if (left !== undefined)
      await client.query(
        `DELETE FROM start_keys k WHERE team = $1 AND execution_id >= $2
            AND NOT EXISTS (SELECT FROM executions e WHERE e.id = k.execution_id)`,
        [team, lowestIdAt(left.movedAt.getTime() - lateMs)],
      )
    await client.query(
      `INSERT INTO team_slots (team) VALUES ($1) ON CONFLICT (team) DO UPDATE SET moved_to = NULL, moved_at = NULL`,
      [team],
    )
  })
}

/** Whether a team has pools of its own. */
export async function hasPools(pool: Queries, team: string): Promise<boolean> {
  const { rows } = await pool.query<{ some: boolean }>(
    'SELECT EXISTS (SELECT FROM team_pools WHERE team = $1) AS some',
    [team],
  )
  return rows[0]!.some
}

/** The number of events that were told in another cell. */
export const movedXid = 1n

/** Tables whose rows are of executions, with what orders them. */
const orderOfExecutions: Record<string, string> = {
  timeline_events: 'execution_id, sequence',
  log_chunks: 'execution_id, first',
}
export const tablesOfExecutions = Object.keys(orderOfExecutions)

/** The other tables that a team takes along, with what orders their rows. */
const otherTables: Record<string, string> = {
  callbacks: 'execution_id',
  late_error_handlers: 'execution_id',
  start_keys: 'scope, key',
  webhook_refusals: 'process_id, id',
  deleted_processes: 'process_id',
  process_names: 'process_id, process_name',
  run_counts: 'grain, at, process_id, origin, status',
  kept_bytes: 'day',
}
export const otherTableNames = Object.keys(otherTables)

/** Not all rows go along: a start that came too late has left its key, and no run. */
const which: Record<string, string> = {
  start_keys: 'AND (execution_id IS NULL OR EXISTS (SELECT FROM executions e WHERE e.id = execution_id))',
}

/** What of a team has changed is told by ids that are not older, and by events from this number on. */
export interface Mark {
  id: string
  xid: bigint
}

/** A start has written its row so long after it has made the id. */
const lateMs = 60_000

/** Changes are told from here on. */
export async function beginMark(connections: Connections, added: bigint): Promise<Mark> {
  const { rows } = await connections.query<{ horizon: string }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot()) AS horizon',
  )
  return { id: lowestIdAt(Date.now() - lateMs), xid: BigInt(rows[0]!.horizon) + added }
}

const pageBytes = 2_000_000
const pageRows = 500
const longMs = 60_000

/** For statements that read or write as much as there is. */
function patiently<T>(connections: Connections, work: (client: Queries) => Promise<T>): Promise<T> {
  return connections.transaction(async (client) => {
    await client.query(`SET LOCAL statement_timeout = ${longMs}`)
    return work({
      query: (statement, values) =>
        typeof statement === 'string'
          ? client.query({ text: statement, values, query_timeout: longMs })
          : client.query({ query_timeout: longMs, ...statement }, values),
    })
  })
}

/** In a statement, rows in their order as JSON texts, as many as go into a page. */
const page = (rows: string) => `
SELECT text FROM (
  SELECT text, sum(octet_length(text)) OVER (ORDER BY n) AS bytes, n
    FROM (SELECT row_to_json(r)::text AS text, row_number() OVER () AS n FROM (${rows}) r) t) p
 WHERE bytes <= ${pageBytes} OR n = 1 ORDER BY n`

async function readPage(connections: Connections, rows: string, values: unknown[]): Promise<string[]> {
  const found = await patiently(connections, (client) => client.query<{ text: string }>(page(rows), values))
  return found.rows.map(({ text }) => text)
}

interface ChangedExecutions {
  mark: Mark
  changed: boolean
  after: string
  beforeMark?: Mark
  /** For how long the keys of error handlers are known. */
  keptDays: number
}

/**
 * Executions of a team behind an id: those that have ended before the mark, or those that may have changed since; of these
 * only those that are older than a later mark, where there is one.
 */
export function readExecutions(
  connections: Connections,
  team: string,
  { mark, changed, after, beforeMark, keptDays }: ChangedExecutions,
): Promise<string[]> {
  const values = [team, after || lowestIdAt(0), mark.id]
  if (!changed) {
    const where = `team = $1 AND id > $2 AND id < $3 AND status IN ${endedStatuses}`
    return readPage(connections, `SELECT * FROM executions WHERE ${where} ORDER BY id LIMIT ${pageRows}`, values)
  }
  // A callback or an error handler that is given up adds a line to the log.
  const ids = `
    SELECT id FROM executions WHERE team = $1 AND id >= $3
    UNION SELECT execution_id FROM timeline_events WHERE xid >= $4::text::xid8 AND team = $1
    UNION SELECT execution_id FROM callbacks WHERE team = $1 AND done_at >= to_timestamp($5)
    UNION SELECT key::uuid FROM start_keys WHERE scope = '${errorHandlerScope}' AND execution_id IS NULL AND team = $1
             AND expires_at >= to_timestamp($5) + make_interval(days => $7::integer)
    UNION SELECT id FROM executions e WHERE ${waits} AND team = $1`
  const where = `team = $1 AND id > $2 AND ($6::uuid IS NULL OR id < $6) AND id IN (${ids})`
  const further = [String(mark.xid), createdAtMs(mark.id) / 1000, beforeMark?.id ?? null, keptDays]
  return readPage(connections, `SELECT * FROM executions WHERE ${where} ORDER BY id LIMIT ${pageRows}`, [
    ...values,
    ...further,
  ])
}

interface TableRequest {
  table: string
  /** Of timelines and logs. */
  executionIds: string[]
  /** The row behind which to go on, as JSON; empty: from the first. */
  after: string
  mark: Mark
  changed: boolean
}

/**
 * Rows of another table behind one of them, of other tables than those of executions those that may have changed since the
 * mark or the others; undefined where it is none that a team takes along.
 */
export async function readTable(
  connections: Connections,
  team: string,
  { table, executionIds, after, mark, changed }: TableRequest,
): Promise<string[] | undefined> {
  const order = orderOfExecutions[table] ?? otherTables[table]
  if (order === undefined) return undefined
  const behind = `($2::text = '' OR (${order}) > (SELECT ${order} FROM json_populate_record(NULL::${table}, nullif($2, '')::json)))`
  const rowsWhere = (where: string) =>
    `SELECT * FROM ${table} WHERE ${where} AND ${behind} ORDER BY ${order} LIMIT ${pageRows}`
  if (tablesOfExecutions.includes(table)) {
    const own = 'execution_id IN (SELECT id FROM executions WHERE team = $1 AND id = ANY ($3::uuid[]))'
    return readPage(connections, rowsWhere(own), [team, after, executionIds])
  }
  if (table === 'run_counts') {
    const isOld = `at < date_trunc('day', to_timestamp($3), 'UTC') - interval '3 days'`
    const own = `team = $1 AND ${changed ? 'NOT' : ''} (${isOld})`
    return readPage(connections, rowsWhere(own), [team, after, createdAtMs(mark.id) / 1000])
  }
  // All rows of the others may change.
  return changed ? readPage(connections, rowsWhere(`team = $1 ${which[table] ?? ''}`), [team, after]) : []
}

/** Failure team_in_cell where a cell has a team; until the end of the transaction nobody lets it join. */
async function requireAway(client: Queries, team: string): Promise<void> {
  const { rows } = await client.query('SELECT FROM team_slots WHERE team = $1 AND moved_to IS NULL FOR SHARE', [team])
  if (rows.length > 0) throw teamInCell(team)
}

/** The operator's call is for a cell that the team is not in. */
function teamInCell(team: string): Failure {
  return new Failure('failed_precondition', 'team_in_cell', `The executions of ${team} are in this cell`)
}

/** Adds executions of a team, in place of those with the same ids and all that is theirs. Failure team_in_cell. */
export async function writeExecutions(connections: Connections, team: string, rows: string): Promise<void> {
  await patiently(connections, async (client) => {
    await requireAway(client, team)
    const given = 'SELECT id FROM json_populate_recordset(NULL::executions, $1::json) WHERE team = $2'
    for (const table of tablesOfExecutions)
      await client.query(`DELETE FROM ${table} WHERE execution_id IN (${given})`, [rows, team])
    await client.query(`DELETE FROM executions WHERE team = $2 AND id IN (${given})`, [rows, team])
    await client.query(
      `INSERT INTO executions SELECT * FROM json_populate_recordset(NULL::executions, $1::json) WHERE team = $2`,
      [rows, team],
    )
  })
}

/**
 * Adds rows of another table to it; those that are there stay. Events get a number below all that are told here: they have
 * been told where they come from. Failure team_in_cell.
 */
export async function writeTable(connections: Connections, team: string, table: string, rows: string): Promise<void> {
  const given = `json_populate_recordset(NULL::${table}, $1::json) r`
  const ofTeam = 'EXISTS (SELECT FROM executions e WHERE e.id = r.execution_id AND e.team = $2)'
  const statements: Record<string, string> = {
    timeline_events: `
      INSERT INTO timeline_events (execution_id, sequence, status, at, explanation, team, process_id, xid, position)
      SELECT execution_id, sequence, status, at, explanation, team, process_id, '${movedXid}'::xid8, position FROM ${given} WHERE ${ofTeam}`,
    log_chunks: `INSERT INTO log_chunks SELECT r.* FROM ${given} WHERE ${ofTeam}`,
  }
  const text = statements[table] ?? `INSERT INTO ${table} SELECT r.* FROM ${given} WHERE r.team = $2`
  await patiently(connections, async (client) => {
    await requireAway(client, team)
    await client.query(`${text} ON CONFLICT DO NOTHING`, [rows, team])
  })
}

/** Removes some of what a cell keeps of a team that is not there; gives whether that was all. Failure team_in_cell. */
export function clearTeam(connections: Connections, team: string): Promise<boolean> {
  return patiently(connections, async (client) => {
    await requireAway(client, team)
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM executions WHERE team = $1 ORDER BY id LIMIT ${pageRows}`,
      [team],
    )
    const ids = rows.map(({ id }) => id)
    if (ids.length > 0) {
      await removeExecutions(client, ids)
      return false
    }
    for (const [table, keys] of Object.entries(otherTables)) {
      const some = `SELECT ${keys} FROM ${table} WHERE team = $1 ORDER BY ${keys} LIMIT ${removedRows}`
      const { rowCount } = await client.query(`DELETE FROM ${table} WHERE team = $1 AND (${keys}) IN (${some})`, [team])
      if (rowCount === removedRows) return false
    }
    return true
  })
}

const removedRows = 10_000

/** What is to be the same in both cells. */
interface TeamSum {
  executions: string
  events: string
  living: string
  others: string
}

/** Sums of counts are filled in each cell by itself. */
const compared: Record<string, string> = { ...which, run_counts: `AND grain IN (${grains.minute}, ${grains.hour})` }
const rowsOf = (table: string) => `(SELECT count(*) FROM ${table} WHERE team = $1 ${compared[table] ?? ''})`

/** Counts what a team has. The last event of an execution has the number of its events: of those that are not older than the mark. */
export async function sumUpTeam(connections: Connections, team: string, mark: Mark): Promise<TeamSum> {
  const text = `
    SELECT (SELECT count(*) FROM executions WHERE team = $1)::text AS executions, coalesce(sum(sequence), 0)::text AS events,
           (SELECT count(*) FROM executions e WHERE ${waits} AND team = $1)::text AS living,
           (${otherTableNames.map(rowsOf).join(' + ')})::text AS others
      FROM executions WHERE team = $1 AND id >= $2`
  const { rows } = await patiently(connections, (client) => client.query<TeamSum>(text, [team, mark.id]))
  return rows[0]!
}
