import { columnLimit, countedUpTo, ifWithinLimit, literally, sizeOf, type Window } from '@automation/database'
import type pg from 'pg'
import type { RunInput, ScheduleRow, When } from '../schedule.ts'
import type { Store } from './store.ts'

export const scheduleColumns = `s.id, s.team, s.process_id AS "processId", s.revision, s.edition, s.cron, s.date_time AS "dateTime",
  s.allow_concurrent AS "allowConcurrent", s.paused, s.next_at AS "nextAt", s.tag, s.parameters, s.comment,
  s.agent_pool AS "agentPool", s.callback_url AS "callbackUrl", s.timeout_ms AS "timeoutMs",
  s.fresh_process AS "freshProcess", s.version_id AS "versionId", s.last_execution_id AS "lastExecutionId",
  s.created_by AS "createdBy", s.initiated_by AS "initiatedBy", s.created_at AS "createdAt",
  s.updated_by AS "updatedBy", s.updated_at AS "updatedAt"`

/** Why nothing comes of a firing that was not decided before. */
export const pausedMeanwhile = 'The schedule was paused'

/** What its owners say of a schedule, and what follows from it. */
interface ScheduleValues {
  when: When
  /** Milliseconds since 1970. */
  nextAt: number | undefined
  allowConcurrent: boolean
  paused: boolean
  input: RunInput
  versionId: string | undefined
}

export interface NewSchedule extends ScheduleValues {
  id: string
  team: string
  processId: string
  createdBy: string
  initiatedBy: string | undefined
}

/** In ms since 1970. */
export async function databaseTime(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ now: Date }>({ name: 'time', text: 'SELECT clock_timestamp() AS now' })
  return rows[0]!.now.getTime()
}

/** Whether a team has so many schedules. */
export async function hasSchedules(client: pg.ClientBase, team: string, count: number): Promise<boolean> {
  const { rows } = await client.query({
    name: 'has_schedules',
    text: 'SELECT FROM schedules WHERE team = $1 OFFSET $2::bigint - 1 LIMIT 1',
    values: [team, count],
  })
  return rows.length > 0
}

export async function countSchedules(store: Store, team: string): Promise<number> {
  const rows = await store.queryFor<{ count: number }>(team, {
    name: 'count_schedules',
    text: 'SELECT count(*)::integer AS count FROM schedules WHERE team = $1',
    values: [team],
  })
  return rows[0]?.count ?? 0
}

/** Gives the row as it is kept. */
export async function insertSchedule(client: pg.ClientBase, schedule: NewSchedule): Promise<ScheduleRow> {
  const { id, team, processId, createdBy, initiatedBy } = schedule
  const { rows } = await client.query<ScheduleRow>({
    name: 'insert_schedule',
    text: `INSERT INTO schedules AS s (id, team, process_id, created_by, initiated_by, cron, date_time, next_at,
             allow_concurrent, paused, tag, parameters, comment, agent_pool, callback_url, timeout_ms, fresh_process,
             version_id)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
           RETURNING ${scheduleColumns}`,
    values: [id, team, processId, createdBy, initiatedBy ?? null, ...columnsOf(schedule)],
  })
  return rows[0]!
}

/** `row` must be locked; what waits of one that is paused by it is given up, as by `setPaused`. */
export async function changeSchedule(
  client: pg.ClientBase,
  row: ScheduleRow,
  updatedBy: string,
  values: ScheduleValues,
): Promise<ScheduleRow> {
  const { rows } = await client.query<ScheduleRow>({
    name: 'change_schedule',
    text: `UPDATE schedules AS s SET revision = s.revision + 1, updated_by = $2, updated_at = now(), cron = $3,
             date_time = $4, next_at = $5, allow_concurrent = $6, paused = $7, tag = $8, parameters = $9, comment = $10,
             agent_pool = $11, callback_url = $12, timeout_ms = $13, fresh_process = $14, version_id = $15
           WHERE id = $1 RETURNING ${scheduleColumns}`,
    values: [row.id, updatedBy, ...columnsOf(values)],
  })
  if (values.paused && !row.paused) await giveUpFirings(client, row.id)
  return rows[0]!
}

function columnsOf({ when, nextAt, allowConcurrent, paused, input, versionId }: ScheduleValues): unknown[] {
  const { tag, parameters, comment, agentPool, callbackUrl, timeoutMs, freshProcess } = input
  const [cron, dateTime] = 'cron' in when ? [when.cron, null] : [null, new Date(when.dateTime)]
  return [
    ...[cron, dateTime, nextAt === undefined ? null : new Date(nextAt), allowConcurrent, paused],
    ...[
      tag,
      Buffer.from(parameters),
      comment ?? null,
      agentPool ?? null,
      callbackUrl ?? null,
      timeoutMs ?? null,
      freshProcess,
      versionId ?? null,
    ],
  ]
}

/** Undefined where the team has none of this id. */
export async function readSchedule(store: Store, team: string, id: string): Promise<ScheduleRow | undefined> {
  const [row] = await store.queryFor<ScheduleRow>(team, {
    name: 'read_schedule',
    text: `SELECT ${scheduleColumns} FROM schedules s WHERE s.id = $1 AND s.team = $2`,
    values: [id, team],
  })
  return row
}

/** Reads a schedule that nobody else changes until the transaction ends; undefined where the team has none of this id. */
export async function lockSchedule(client: pg.ClientBase, team: string, id: string): Promise<ScheduleRow | undefined> {
  const { rows } = await client.query<ScheduleRow>({
    name: 'lock_schedule',
    text: `SELECT ${scheduleColumns} FROM schedules s WHERE s.id = $1 AND s.team = $2 FOR UPDATE`,
    values: [id, team],
  })
  return rows[0]
}

/** `row` must be locked. */
export async function deleteSchedule(client: pg.ClientBase, { id }: ScheduleRow): Promise<void> {
  await client.query({ name: 'delete_schedule', text: 'DELETE FROM schedules WHERE id = $1', values: [id] })
}

/**
 * `row` must be locked; what waits of a paused one is given up, and by its holder what somebody looks at. Gives the row as
 * it is then.
 */
export async function setPaused(
  client: pg.ClientBase,
  { id }: ScheduleRow,
  updatedBy: string,
  paused: boolean,
  nextAt: number | undefined,
): Promise<ScheduleRow> {
  const { rows } = await client.query<ScheduleRow>({
    name: 'set_paused',
    text: `UPDATE schedules AS s SET paused = $2, next_at = $3, revision = s.revision + 1, updated_by = $4, updated_at = now()
           WHERE id = $1 RETURNING ${scheduleColumns}`,
    values: [id, paused, nextAt === undefined ? null : new Date(nextAt), updatedBy],
  })
  if (paused) await giveUpFirings(client, id)
  return rows[0]!
}

async function giveUpFirings(client: pg.ClientBase, id: string): Promise<void> {
  await client.query({
    name: 'give_up_firings',
    text: `UPDATE firings SET state = 4, due_at = NULL, decided_at = now(), explanation = $2
           WHERE schedule_id = $1 AND state < 3 AND holder IS NULL AND NOT asked`,
    values: [id, pausedMeanwhile],
  })
  await client.query({
    name: 'have_given_up_firings',
    text: `UPDATE firings SET explanation = CASE WHEN given_up THEN explanation ELSE $2 END, given_up = true
           WHERE schedule_id = $1 AND state < 3`,
    values: [id, pausedMeanwhile],
  })
}

const listedColumns = scheduleColumns
  .replace('s.parameters', `coalesce(${ifWithinLimit('s.parameters')}, '') AS parameters`)
  .replace('s.comment', `${ifWithinLimit('s.comment')} AS comment`)

interface ScheduleFilter {
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
               column_limit AS (${columnLimit('s', [sizeOf('s.parameters'), sizeOf('s.comment')])})
             SELECT ${listedColumns} FROM s CROSS JOIN column_limit ORDER BY s.id DESC`,
      values: [...values, take, skip],
    }),
    store.queryFor<{ total: number }>(team, {
      text: `SELECT count(*)::integer AS total FROM (SELECT ${found} LIMIT ${countedUpTo}) AS counted`,
      values,
    }),
  ])
  return { rows, total: count?.total ?? 0 }
}

/** A version by its tag and its id, or an alias by its name. */
interface UsedName {
  team: string
  processId: string
  name: string
  versionId: string | undefined
}

interface ScheduleUsers {
  users: { id: string; comment: string | null }[]
  count: number
}

const shown = 5
const shownCharacters = 60

/** The schedules that name it and may still fire: at most five, and how many there are. */
export async function findScheduleUsers(
  store: Store,
  { team, processId, name, versionId }: UsedName,
): Promise<ScheduleUsers> {
  const rows = await store.query<{ id: string; comment: string | null; count: number }>({
    name: 'schedule_users',
    text: `SELECT s.id, left(s.comment, ${shownCharacters}) AS comment, count(*) OVER ()::integer AS count FROM schedules s
           WHERE s.process_id = $2 AND s.team = $1 AND (s.tag = $3 OR lower(s.tag) = $4)
             AND (s.next_at IS NOT NULL OR s.paused
               OR EXISTS (SELECT FROM firings f WHERE f.schedule_id = s.id AND f.state < 3))
           ORDER BY s.id LIMIT ${shown}`,
    values: [team, processId, name, versionId?.toLowerCase() ?? null],
  })
  return { users: rows.map(({ id, comment }) => ({ id, comment })), count: rows[0]?.count ?? 0 }
}
