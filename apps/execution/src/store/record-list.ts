import type { Status } from '@automation/contract/execution/v1/execution'
import type pg from 'pg'
import { recordColumns, visible, type RecordRow } from './records.ts'

export interface RecordFilter {
  team: string
  keywords?: string
  comment?: string
  processId?: string
  status?: Status
  /** Bounds of ids, which hold the time of creation: from inclusive, until exclusive. */
  fromId?: string
  untilId?: string
}

/** What `total` says at most: "more than 10,000". */
export const countLimit = 10_001

/** A page of executions, newest first, and how many there are. */
export async function listRecords(
  pool: pg.Pool,
  filter: RecordFilter,
  limit: number,
  offset: number,
): Promise<{ rows: RecordRow[]; total: number }> {
  const { conditions, values } = where(filter)
  const from = `FROM executions e WHERE ${conditions.join(' AND ')}`
  const next = values.length + 1
  const [page, count] = await Promise.all([
    pool.query<RecordRow>(
      `SELECT ${recordColumns(true)} ${from} ORDER BY e.id DESC LIMIT $${next}::integer OFFSET $${next + 1}::bigint`,
      [...values, limit, offset],
    ),
    pool.query<{ total: number }>(
      `SELECT count(*)::integer AS total FROM (SELECT ${from} LIMIT ${countLimit}) AS counted`,
      values,
    ),
  ])
  return { rows: page.rows, total: count.rows[0]?.total ?? 0 }
}

function where(filter: RecordFilter): { conditions: string[]; values: unknown[] } {
  const values: unknown[] = [filter.team]
  const conditions = ['e.team = $1', visible]
  const add = (value: unknown, condition: (parameter: string) => string) => {
    if (value === undefined) return
    values.push(value)
    conditions.push(condition(`$${values.length}`))
  }
  add(filter.processId, (p) => `e.process_id = ${p}::uuid`)
  // Written into the text, so that the partial indexes are found.
  if (filter.status !== undefined) conditions.push(`e.status = ${Number(filter.status)}`)
  add(filter.fromId, (p) => `e.id >= ${p}::uuid`)
  add(filter.untilId, (p) => `e.id < ${p}::uuid`)
  add(pattern(filter.keywords), (p) => `(e.process_name ILIKE ${p} OR e.comment ILIKE ${p})`)
  add(pattern(filter.comment), (p) => `e.comment ILIKE ${p}`)
  return { conditions, values }
}

function pattern(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
}
