import type { ScheduleRow } from '../schedule.ts'
import { scheduleColumns } from './schedules.ts'
import type { Store } from './store.ts'

/** How far a list is counted: 10,001 stands for more than 10,000. */
export const countedUpTo = 10_001

const listedBytes = 64 * 1024
const listedColumns = scheduleColumns.replace(
  's.parameters',
  `CASE WHEN length(s.parameters) > ${listedBytes} THEN '' ELSE s.parameters END AS parameters`,
)

export interface ScheduleFilter {
  team: string
  processId?: string
  keywords?: string
}

/** A page of schedules, newest first, and how many there are; parameters above 64 KiB are empty. */
export async function listSchedules(
  store: Store,
  { team, processId, keywords }: ScheduleFilter,
  limit: number,
  offset: number,
): Promise<{ rows: ScheduleRow[]; total: number }> {
  const values: unknown[] = [team]
  const conditions = ['s.team = $1']
  if (processId !== undefined) conditions.push(`s.process_id = $${values.push(processId)}::uuid`)
  if (keywords !== undefined) {
    const words = `$${values.push(`%${keywords.replaceAll(/[\\%_]/g, '\\$&')}%`)}`
    conditions.push(`(s.comment ILIKE ${words} OR p.name ILIKE ${words})`)
  }
  const found = `FROM schedules s JOIN processes p ON p.id = s.process_id WHERE ${conditions.join(' AND ')}`
  const [rows, [count]] = await Promise.all([
    store.query<ScheduleRow>({
      text: `SELECT ${listedColumns} ${found} ORDER BY s.id DESC LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
      values: [...values, limit, offset],
    }),
    store.query<{ total: number }>({
      text: `SELECT count(*)::integer AS total FROM (SELECT ${found} LIMIT ${countedUpTo}) AS counted`,
      values,
    }),
  ])
  return { rows, total: count?.total ?? 0 }
}
