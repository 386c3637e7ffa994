import type { Status } from '@automation/contract/execution/v1/execution'
import { columnLimit, countedUpTo, literally, sizeOf, type Window } from '@automation/database'
import { installsProcessId } from '@automation/contract/installs'
import { recordColumns, type RecordRow } from './records.ts'
import type { Queries } from './connections.ts'

export interface RecordFilter {
  team: string
  keywords?: string
  comment?: string
  processId?: string
  statuses?: Status[]
  /** Bounds of ids, which hold the time of creation: from inclusive, until exclusive. */
  fromId?: string
  untilId?: string
}

interface Search {
  /** Alternatives, each of which finds its rows by an index. */
  branches: string[]
  values: unknown[]
}

/** A page of executions, newest first, and how many there are. */
export async function listRecords(
  pool: Queries,
  filter: RecordFilter,
  { skip, take }: Window,
): Promise<{ rows: RecordRow[]; total: number }> {
  const search = await searchOf(pool, filter)
  const [page, count] = await Promise.all([
    pool.query<RecordRow>(pageStatement(search), [...search.values, take, skip]),
    pool.query<{ total: number }>(countStatement(search), search.values),
  ])
  return { rows: page.rows, total: count.rows[0]?.total ?? 0 }
}

function pageStatement({ branches, values }: Search): string {
  const limit = `$${values.length + 1}::bigint`
  const offset = `$${values.length + 2}::bigint`
  const order = 'ORDER BY e.id DESC'
  const [only, ...others] = branches
  if (others.length === 0)
    return listed(`SELECT e.* FROM executions e WHERE ${only} ${order} LIMIT ${limit} OFFSET ${offset}`)
  const parts = branches.map(
    (branch) => `(SELECT e.id FROM executions e WHERE ${branch} ${order} LIMIT ${limit} + ${offset})`,
  )
  return listed(`SELECT e.*
    FROM (SELECT id FROM (${parts.join(' UNION ')}) AS found ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}) AS page
    JOIN executions e USING (id)`)
}

/** The rows of a page, without the values that are too large for a page. */
function listed(page: string): string {
  return `WITH e AS (${page}), column_limit AS (${columnLimit('e', ['e.parameters', 'e.return_value', 'e.comment'].map(sizeOf))})
    SELECT ${recordColumns(true)} FROM e CROSS JOIN column_limit ORDER BY e.id DESC`
}

function countStatement({ branches }: Search): string {
  const parts = branches.map((branch) => `(SELECT e.id FROM executions e WHERE ${branch} LIMIT ${countedUpTo})`)
  return `SELECT least(count(*), ${countedUpTo})::integer AS total FROM (${parts.join(' UNION ')}) AS found`
}

async function searchOf(pool: Queries, filter: RecordFilter): Promise<Search> {
  const values: unknown[] = [filter.team]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const conditions = ['e.team = $1']
  const hidden = await readHidden(pool, filter.team)
  // Written only where there are any: it keeps the pages of an index from being read in its order.
  if (hidden.length > 0) conditions.push(`e.process_id <> ALL (${parameter(hidden)}::uuid[])`)
  if (filter.processId !== undefined) conditions.push(`e.process_id = ${parameter(filter.processId)}::uuid`)
  // Written into the text, so that the partial indexes are found.
  if (filter.statuses !== undefined) conditions.push(`e.status IN (${filter.statuses.map(Number).join(', ')})`)
  if (filter.fromId !== undefined) conditions.push(`e.id >= ${parameter(filter.fromId)}::uuid`)
  if (filter.untilId !== undefined) conditions.push(`e.id < ${parameter(filter.untilId)}::uuid`)
  if (filter.comment !== undefined)
    conditions.push(`e.comment IS NOT NULL AND e.comment ILIKE ${parameter(pattern(filter.comment))}`)
  const all = conditions.join(' AND ')
  if (filter.keywords === undefined) return { branches: [all], values }
  const words = parameter(pattern(filter.keywords))
  const branches = [`${all} AND e.comment IS NOT NULL AND e.comment ILIKE ${words}`]
  const processes = await readProcessesNamed(pool, filter.team, filter.keywords)
  if (processes.length > 0)
    branches.push(`${all} AND e.process_id = ANY (${parameter(processes)}::uuid[]) AND e.process_name ILIKE ${words}`)
  return { branches, values }
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
