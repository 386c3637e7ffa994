import { literally, pageRoom, roomFor, sizeOf } from '@automation/database'
import { countedUpTo, type Window } from '@automation/rpc'
import type { ScheduleRow } from '../schedule.ts'
import { scheduleColumns } from './schedules.ts'
import type { Store } from './store.ts'

const listedColumns = scheduleColumns
  .replace('s.parameters', `coalesce(${roomFor('s.parameters')}, '') AS parameters`)
  .replace('s.comment', `${roomFor('s.comment')} AS comment`)

export interface ScheduleFilter {
  team: string
  processId?: string
  keywords?: string
}

/** A page of schedules, newest first, and how many there are; parameters that are too large are empty. */
export async function listSchedules(
  store: Store,
  { team, processId, keywords }: ScheduleFilter,
  { skip, take }: Window,
): Promise<{ rows: ScheduleRow[]; total: number }> {
  const values: unknown[] = [team]
  const conditions = ['s.team = $1']
  if (processId !== undefined) conditions.push(`s.process_id = $${values.push(processId)}::uuid`)
  if (keywords !== undefined) {
    const words = `$${values.push(`%${literally(keywords)}%`)}`
    conditions.push(`(s.comment ILIKE ${words} OR p.name ILIKE ${words})`)
  }
  const found = `FROM schedules s JOIN processes p ON p.id = s.process_id WHERE ${conditions.join(' AND ')}`
  const [rows, [count]] = await Promise.all([
    store.queryFor<ScheduleRow>(team, {
      text: `WITH s AS (SELECT s.* ${found} ORDER BY s.id DESC LIMIT $${values.length + 1} OFFSET $${values.length + 2}),
               room AS (${pageRoom('s', [sizeOf('s.parameters'), sizeOf('s.comment')])})
             SELECT ${listedColumns} FROM s CROSS JOIN room ORDER BY s.id DESC`,
      values: [...values, take, skip],
    }),
    store.queryFor<{ total: number }>(team, {
      text: `SELECT count(*)::integer AS total FROM (SELECT ${found} LIMIT ${countedUpTo}) AS counted`,
      values,
    }),
  ])
  return { rows, total: count?.total ?? 0 }
}
