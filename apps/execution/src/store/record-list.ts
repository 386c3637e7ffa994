import { Origin, Status } from '@automation/contract/execution/v1/execution'
import { columnLimit, countedUpTo, literally, sizeOf, type Window } from '@automation/database'
import { installsProcessId } from '@automation/contract/installs'
import { recordColumns, visible, type RecordRow } from './records.ts'
import { createdAtMs, lowestIdAt } from '../execution-id.ts'
import { isTerminal } from '../status.ts'
import type { Queries } from './connections.ts'
import { among, waits } from './statuses.ts'
import { hasWords, readFewIds } from './word-search.ts'
import { readLateRunning, trackedRunning } from './tracked-runs.ts'

export interface RecordFilter {
  team: string
  keywords?: string
  comment?: string
  /** Each of them a part of parameters, value or error. */
  words?: string
  processId?: string
  scheduleId?: string
  versionId?: string
  parentId?: string
  statuses?: Status[]
  origins?: Origin[]
  trial?: boolean
  /** Bounds of ids, which hold the time of creation: from inclusive, until exclusive. */
  fromId?: string
  untilId?: string
  /** The page has those that are older than this one. */
  afterId?: string
}

interface Search {
  /** Alternatives, each of which finds its rows by an index. */
  branches: Source[]
  values: unknown[]
  /** Its words are in many rows, maybe of some days alone. */
  hasManyWords: boolean
}

/** Rows `e`, of executions or of events that name one. */
interface Source {
  from: string
  /** Their column of the execution's id. */
  id: string
  /** What holds for them. */
  where: string[]
}

/** A page of executions, newest first, and how many there are. */
export async function listRecords(
  pool: Queries,
  filter: RecordFilter,
  { skip, take }: Window,
): Promise<{ rows: RecordRow[]; total: number }> {
  const search = await searchOf(pool, filter)
  if (search === undefined) return { rows: [], total: 0 }
  const { afterId } = filter
  if (search.hasManyWords) return pageOfWords(pool, search, filter, { skip, take })
  const pageValues = [...search.values, take, skip, ...(afterId === undefined ? [] : [afterId])]
  const [page, count] = await Promise.all([
    pool.query<RecordRow>(pageStatement(search, afterId !== undefined), pageValues),
    pool.query<{ total: number }>(countStatement(search), search.values),
  ])
  return { rows: page.rows, total: count.rows[0]?.total ?? 0 }
}

/**
 * A page of runs whose words are in many rows. Day by day, as the indexes of words are those of days and know no order: the
 * first days with some make the page, and a day without any costs a look into its index.
 */
async function pageOfWords(
  pool: Queries,
  search: Search,
  filter: RecordFilter,
  { skip, take }: Window,
): Promise<{ rows: RecordRow[]; total: number }> {
  const { team, afterId } = filter
  const count = pool.query<{ total: number }>(countStatement(search), search.values)
  const first = pool.query<{ id: string }>('SELECT id FROM executions WHERE team = $1 ORDER BY id LIMIT 1', [team])
  const [{ rows: counts }, { rows: oldest }] = await Promise.all([count, first])
  const ids: string[] = []
  const days = daysOf(filter, oldest[0]?.id)
  for (let day = days.newest; day >= days.oldest && ids.length < skip + take; day -= 1) {
    const span: [from: string, until: string] = [lowestIdAt(day * dayMs), lowestIdAt((day + 1) * dayMs)]
    const left = skip + take - ids.length
    const text = dayStatement(search, span, { most: left, isAfter: afterId !== undefined })
    const { rows } = await pool.query<{ id: string }>(text, [
      ...search.values,
      ...(afterId === undefined ? [] : [afterId]),
    ])
    ids.push(...rows.map(({ id }) => id))
  }
  const rows = await readListed(pool, team, ids.slice(skip))
  return { rows: rows.toSorted((a, b) => (a.id < b.id ? 1 : -1)), total: counts[0]?.total ?? 0 }
}

const dayMs = 86_400_000

/** The days since 1970 that may have runs between the bounds of a filter, where the oldest run of the team has this id. */
export function daysOf(
  { fromId, untilId, afterId }: Pick<RecordFilter, 'fromId' | 'untilId' | 'afterId'>,
  oldestId: string | undefined,
  nowMs = Date.now(),
): { newest: number; oldest: number } {
  const timesOf = (ids: (string | undefined)[]) => ids.filter((id) => id !== undefined).map(createdAtMs)
  const newestMs = Math.min(nowMs + dayMs, ...timesOf([untilId, afterId]))
  const oldestMs = Math.max(...timesOf([oldestId ?? lowestIdAt(nowMs), fromId]))
  return { newest: Math.floor(newestMs / dayMs), oldest: Math.floor(oldestMs / dayMs) }
}

/** Ids of a span, newest first. Its bounds are written into it, so that the planner knows the day. */
function dayStatement(
  { branches, values }: Search,
  [from, until]: [from: string, until: string],
  { most, isAfter }: { most: number; isAfter: boolean },
): string {
  const parts = branches.map(({ from: source, id, where }) => {
    const after = isAfter ? [`${id} < $${values.length + 1}::uuid`] : []
    const conditions = [...where, `${id} >= '${from}'`, `${id} < '${until}'`, ...after].join(' AND ')
    return `(SELECT ${id} AS id FROM ${source} WHERE ${conditions} ORDER BY ${id} DESC LIMIT ${most})`
  })
  return `SELECT id FROM (${parts.join(' UNION ')}) AS found ORDER BY id DESC LIMIT ${most}`
}

function pageStatement({ branches: all, values }: Search, isAfter: boolean): string {
  const after = `$${values.length + 3}::uuid`
  const branches = isAfter ? all.map((one) => ({ ...one, where: [...one.where, `${one.id} < ${after}`] })) : all
  const limit = `$${values.length + 1}::bigint`
  const offset = `$${values.length + 2}::bigint`
  const [only, ...others] = branches
  if (others.length === 0 && only!.from === executions.from)
    return listed(
      `SELECT e.* FROM executions e WHERE ${only!.where.join(' AND ')} ORDER BY e.id DESC LIMIT ${limit} OFFSET ${offset}`,
    )
  const parts = branches.map(
    ({ from, id, where }) =>
      `(SELECT ${id} AS id FROM ${from} WHERE ${where.join(' AND ')} ORDER BY ${id} DESC LIMIT ${limit} + ${offset})`,
  )
  return listed(`SELECT e.*
    FROM (SELECT id FROM (${parts.join(' UNION ')}) AS found ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}) AS page
    CROSS JOIN LATERAL (SELECT * FROM executions WHERE id = page.id LIMIT 1) e`)
}

/** Executions of a team by their ids, as lists show them and in no order; what is not shown is left out. */
export async function readListed(pool: Queries, team: string, ids: string[]): Promise<RecordRow[]> {
  const page = `SELECT e.* FROM executions e WHERE e.id = ANY ($1::uuid[]) AND e.team = $2 AND ${visible}`
  return (await pool.query<RecordRow>(listed(page), [ids, team])).rows
}

/** The rows of a page, without the values that are too large for a page. */
function listed(page: string): string {
  return `WITH e AS (${page}), column_limit AS (${columnLimit('e', ['e.parameters', 'e.return_value', 'e.comment'].map(sizeOf))})
    SELECT ${recordColumns(true)} FROM e CROSS JOIN column_limit ORDER BY e.id DESC`
}

function countStatement({ branches }: Search): string {
  const parts = branches.map(
    ({ from, id, where }) => `(SELECT ${id} AS id FROM ${from} WHERE ${where.join(' AND ')} LIMIT ${countedUpTo})`,
  )
  return `SELECT least(count(*), ${countedUpTo})::integer AS total FROM (${parts.join(' UNION ')}) AS found`
}

const executions = { from: 'executions e', id: 'e.id' }
/** Ends of which events of their own kind are found by an index. */
const unusual: readonly Status[] = [Status.KILLED, Status.REJECTED, Status.ERROR]

/** Undefined where nothing fits. */
async function searchOf(pool: Queries, filter: RecordFilter): Promise<Search | undefined> {
  const values: unknown[] = [filter.team]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const { comment, keywords, statuses, fromId, untilId } = filter
  const conditions = ['e.team = $1']
  const hidden = await readHidden(pool, filter.team)
  // Written only where there are any: it keeps the pages of an index from being read in its order.
  if (hidden.length > 0) conditions.push(`e.process_id <> ALL (${parameter(hidden)}::uuid[])`)
  if (filter.processId !== undefined) conditions.push(`e.process_id = ${parameter(filter.processId)}::uuid`)
  // Written into the text, so that the partial indexes are found.
  if (statuses !== undefined) conditions.push(`e.status IN ${among(statuses)}`)
  const ofRows = rowConditions(filter, parameter)
  const bounds: [relation: string, bound: string][] = []
  if (fromId !== undefined) bounds.push(['>=', `${parameter(fromId)}::uuid`])
  if (untilId !== undefined) bounds.push(['<', `${parameter(untilId)}::uuid`])
  let hasManyWords = false
  if (filter.words !== undefined) {
    const words = hasWords(filter.words, parameter)
    const within = bounds.map(([relation, bound]) => `e.id ${relation} ${bound}`)
    const ids = await readFewIds(pool, [...conditions, ...within, ...ofRows], words, values)
    if (ids?.length === 0) return undefined
    hasManyWords = ids === undefined
    ofRows.push(...words.indexed)
    if (ids !== undefined) ofRows.push(`e.id = ANY (${parameter(ids)}::uuid[])`)
  }
  const found = (sources: Source[], ...further: string[]) =>
    sources.map(({ from, id, where }) => {
      const within = bounds.map(([relation, bound]) => `${id} ${relation} ${bound}`)
      const own = from === timeline ? [] : ofRows
      return { from, id, where: [...conditions, ...within, ...where, ...own, ...further] }
    })
  // Before the page: what is marked in between is found by both, and what begins in between had not begun.
  const late = statuses?.includes(Status.RUNNING) ? await readLateRunning(pool, filter.team) : []
  const lateIds = late.length > 0 ? parameter(late) : undefined
  // A comment is found by its own index.
  const rows =
    comment === undefined ? await sourcesOf(pool, filter, ofRows.length > 0, lateIds) : rowsOf(statuses, lateIds)
  if (keywords === undefined) return { branches: found(rows), values, hasManyWords }
  const words = parameter(pattern(keywords))
  const branches = found(rowsOf(statuses, lateIds), `e.comment IS NOT NULL AND e.comment ILIKE ${words}`)
  const processes = await readProcessesNamed(pool, filter.team, keywords)
  if (processes.length > 0) {
    const named = `e.process_id = ANY (${parameter(processes)}::uuid[]) AND e.process_name ILIKE ${words}`
    branches.push(...found(comment === undefined ? await sourcesOf(pool, filter, true, lateIds) : rows, named))
  }
  return { branches, values, hasManyWords }
}

/** What holds for rows of executions, and events say nothing of. */
function rowConditions(filter: RecordFilter, parameter: (value: unknown) => string): string[] {
  const { comment, scheduleId, versionId, parentId, origins, trial } = filter
  const conditions: string[] = []
  if (comment !== undefined) conditions.push(`e.comment IS NOT NULL AND e.comment ILIKE ${parameter(pattern(comment))}`)
  if (scheduleId !== undefined) conditions.push(`e.schedule_id = ${parameter(scheduleId)}::uuid`)
  if (versionId !== undefined) conditions.push(`e.version_id = ${parameter(versionId)}::uuid`)
  if (parentId !== undefined) conditions.push(`e.parent_id = ${parameter(parentId)}::uuid`)
  if (trial !== undefined) conditions.push(trial ? 'e.trial' : 'NOT e.trial')
  if (origins !== undefined) conditions.push(hasOrigin(origins))
  return conditions
}

/** In a statement, that a run `e` has one of these origins, in words of the indexes of those that have some. */
function hasOrigin(origins: Origin[]): string {
  const words = origins.map((origin) => {
    if (origin === Origin.SCHEDULE) return 'e.schedule_id IS NOT NULL'
    if (origin === Origin.RERUN) return 'e.rerun_of IS NOT NULL'
    if (origin === Origin.PROCESS) return 'e.parent_id IS NOT NULL'
    if (origin === Origin.WEBHOOK) return `e.request IS NOT NULL AND coalesce(e.origin, ${origin}) = ${origin}`
    return `e.origin = ${Number(origin)}`
  })
  return words.length === 1 ? words[0]! : `(${words.join(' OR ')})`
}

/** Whether an index knows of the rows that have what is asked for, and they may be few. */
const isNarrow = ({ scheduleId, versionId, parentId }: RecordFilter) =>
  scheduleId !== undefined || versionId !== undefined || parentId !== undefined

/**
 * Where the rows of a filter are found. Of ends that are rare the events are read, with their executions where more than
 * events know is asked; what has not ended has indexes of its own.
 */
async function sourcesOf(
  pool: Queries,
  filter: RecordFilter,
  asksRows: boolean,
  late: string | undefined,
): Promise<Source[]> {
  const { statuses } = filter
  if (statuses === undefined || statuses.includes(Status.FINISHED)) return rowsOf(statuses, late)
  const living = statuses.filter((status) => !isTerminal(status))
  const rare = statuses.filter((status) => unusual.includes(status))
  if (rare.length > 0 && isNarrow(filter) && !(await areFew(pool, filter.team, rare))) return rowsOf(statuses, late)
  const ends = rare.map(asksRows ? endedRowsOf : endsOf)
  return living.length > 0 ? [...rowsOf(living, late), ...ends] : ends
}

const few = 2000

/** Whether a team has few of these ends. */
async function areFew(pool: Queries, team: string, rare: Status[]): Promise<boolean> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM (SELECT FROM timeline_events WHERE team = $1 AND status IN ${among(rare)} LIMIT ${few}) AS counted`,
    [team],
  )
  return (rows[0]?.count ?? 0) < few
}

/** Where the rows of these statuses are found: few of many have not ended. `late` holds ids of RUNNING ones that no index knows. */
function rowsOf(statuses: Status[] | undefined, late: string | undefined): Source[] {
  if (statuses === undefined || statuses.some(isTerminal)) return [{ ...executions, where: [] }]
  const where = [
    ...(statuses.includes(Status.RUNNING) ? [trackedRunning] : []),
    ...(statuses.every((status) => status === Status.RUNNING) ? [] : [waits]),
    ...(late === undefined ? [] : [`e.id = ANY (${late}::uuid[])`]),
  ]
  return where.map((condition) => ({ ...executions, where: [condition] }))
}

const timeline = 'timeline_events e'

/** The events of such ends. */
function endsOf(status: Status): Source {
  return { from: timeline, id: 'e.execution_id', where: [`e.status = ${Number(status)}`] }
}

/** The executions of such ends, in the order of the events. */
function endedRowsOf(status: Status): Source {
  return {
    from: 'timeline_events t CROSS JOIN LATERAL (SELECT * FROM executions WHERE id = t.execution_id LIMIT 1) e',
    id: 't.execution_id',
    where: ['t.team = $1', `t.status = ${Number(status)}`],
  }
}

/** Deleted processes whose executions are not removed yet, and the one of installs where the team has had any. */
async function readHidden(pool: Queries, team: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'hidden',
    text: `SELECT process_id AS id FROM deleted_processes WHERE team = $1 AND removed_at IS NULL
            UNION ALL SELECT $2::uuid WHERE EXISTS (SELECT FROM executions WHERE team = $1 AND process_id = $2::uuid)`,
    values: [team, installsProcessId],
  })
  return rows.map(({ id }) => id)
}

/** Processes that have had runs under a name with these words. */
async function readProcessesNamed(pool: Queries, team: string, keywords: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT DISTINCT process_id AS id FROM process_names WHERE team = $1 AND process_name ILIKE $2',
    [team, pattern(keywords)],
  )
  return rows.map(({ id }) => id)
}

function pattern(text: string): string {
  return `%${literally(text)}%`
}
