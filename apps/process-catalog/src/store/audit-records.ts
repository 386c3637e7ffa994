import { AuditType, type AuditRecord, type AuditRecordSchema } from '@automation/contract/audit/v1/audit'
import { countedUpTo, createdAtMs, pageInfo, type Window } from '@automation/database'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { Store } from './store.ts'
import { requireTeam } from './teams.ts'

interface AuditFilter {
  team: string
  type?: AuditType
  entityId?: string
  /** Bounds of ids, which hold the time: from inclusive, until exclusive. */
  fromId?: string
  untilId?: string
}

interface Row {
  id: string
  type: AuditType
  event: string
  entityId: string
  user: string
  initiatedBy: string | null
  ip: string | null
}

interface NewRecord extends Pick<AuditRecord, 'id' | 'team' | 'type' | 'event' | 'entityId' | 'user'> {
  initiatedBy?: string | undefined
  ip?: string | undefined
}

/** Adds those that are not there yet. Each must belong to a month that has its partition. */
export async function appendAuditRecords(store: Store, records: readonly AuditRecord[]): Promise<void> {
  await append(store, { name: 'append_audit', records })
}

/** An exchange as it is recorded, under the client id. */
export type ExchangeRow = Omit<NewRecord, 'type'>

/** Adds records of exchanges, of teams that there are; gives how many. */
export function appendExchanges(store: Store, rows: readonly ExchangeRow[]): Promise<number> {
  const records = rows.map((row) => ({ ...row, type: AuditType.TOKEN }))
  return append(store, { name: 'append_exchanges', records, which: 'JOIN teams ON teams.slug = given.team' })
}

/** Gives how many there were to add; `which` leaves some of the `given` ones out. */
async function append(
  store: Store,
  { name, records, which = '' }: { name: string; records: readonly NewRecord[]; which?: string },
): Promise<number> {
  const [added] = await store.statement<{ count: number }>({
    name,
    text: `WITH added AS (
             INSERT INTO audit_records (team, id, type, event, entity_id, actor, initiated_by, ip)
             SELECT given.* FROM unnest($1::text[], $2::uuid[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
                 AS given (team, id, type, event, entity_id, actor, initiated_by, ip) ${which}
             ON CONFLICT DO NOTHING RETURNING 1)
           SELECT count(*)::integer AS count FROM added`,
    values: [
      records.map(({ team }) => team),
      records.map(({ id }) => id),
      records.map(({ type }) => type),
      records.map(({ event }) => event),
      records.map(({ entityId }) => entityId),
      records.map(({ user }) => user),
      records.map(({ initiatedBy }) => initiatedBy ?? null),
      records.map(({ ip }) => ip ?? null),
    ],
  })
  return added!.count
}

/** In Unix ms. */
export async function databaseTimeMs(store: Store): Promise<number> {
  const text = 'SELECT extract(epoch FROM now())::float8 * 1000 AS ms'
  const [row] = await store.statement<{ ms: number }>({ name: 'time', text, values: [] })
  return row!.ms
}

/** A page of a team's records, newest first. */
export async function listAuditRecords(store: Store, filter: AuditFilter, window: Window) {
  const { where, values } = conditionsOf(filter)
  const limits = `LIMIT $${values.length + 1}::bigint OFFSET $${values.length + 2}::bigint`
  const [found, counted] = await Promise.all([
    store.statementFor<Row>(filter.team, {
      text: `SELECT id, type, event, entity_id AS "entityId", actor AS "user", initiated_by AS "initiatedBy", ip
               FROM audit_records WHERE ${where} ORDER BY id DESC ${limits}`,
      values: [...values, window.take, window.skip],
    }),
    store.statementFor<{ total: number }>(filter.team, {
      text: `SELECT count(*)::integer AS total FROM (SELECT FROM audit_records WHERE ${where} LIMIT ${countedUpTo}) AS found`,
      values,
    }),
  ])
  const total = counted[0]?.total ?? 0
  if (total === 0) await store.readFor(filter.team, (rows) => requireTeam(rows, filter.team))
  return { records: found.map((row) => recordOf(filter.team, row)), page: pageInfo(window, total, found.length) }
}

function conditionsOf({ team, type, entityId, fromId, untilId }: AuditFilter): { where: string; values: string[] } {
  const values = [team]
  const conditions = ['team = $1']
  // Written into the text, so that the partial index is found.
  if (type !== undefined) conditions.push(`type = ${Number(type)}`)
  if (entityId !== undefined) conditions.push(`entity_id = $${values.push(entityId)}`)
  if (fromId !== undefined) conditions.push(`id >= $${values.push(fromId)}::uuid`)
  if (untilId !== undefined) conditions.push(`id < $${values.push(untilId)}::uuid`)
  return { where: conditions.join(' AND '), values }
}

function recordOf(team: string, row: Row): MessageInitShape<typeof AuditRecordSchema> {
  const { initiatedBy, ip, ...others } = row
  const time = timestampFromMs(createdAtMs(row.id))
  return { ...others, team, initiatedBy: initiatedBy ?? undefined, ip: ip ?? undefined, time }
}
