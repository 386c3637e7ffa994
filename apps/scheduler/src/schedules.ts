import { recordAudit, type AuditEvent } from '@automation/audit'
import { AuditType } from '@automation/contract/audit/v1/audit'
import type { PageInfoSchema, PageRequest } from '@automation/contract/common/v1/page'
import type { FiringService } from '@automation/contract/execution/v1/firing'
import { Failure, invalid, limitReached, notFound } from '@automation/errors'
import { pageInfo, windowOf } from '@automation/database'
import { asService, memberIn, type CallContext, type Client, type Member } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { v7, validate } from 'uuid'
import type { ScheduleChange } from './change.ts'
import { CronError, parseCron } from './cron/cron.ts'
import { dueAfter } from './due-times.ts'
import { inputMessage, inputOf, whenOf, type RunInput, type ScheduleRow, type When } from './schedule.ts'
import { noteProcess } from './store/processes.ts'
import {
  changeSchedule,
  databaseTime,
  deleteSchedule,
  hasSchedules,
  insertSchedule,
  listSchedules,
  lockSchedule,
  readSchedule,
  setPaused,
} from './store/schedules.ts'
import type { Store } from './store/store.ts'
import { holdZone, noteZone } from './store/zones.ts'

/** A schedule that somebody wants. */
export interface ScheduleRequest {
  /** A process id or slug. */
  process: string
  cron: string | undefined
  /** As the caller gives it. */
  dateTime: string | undefined
  allowConcurrent: boolean
  input: RunInput
}

export interface SchedulesOptions {
  store: Store
  executions: Client<typeof FiringService>
  teamMaxSchedules: number
  /** Something may be due earlier than before. */
  changed(): void
}

/** The schedules of teams, and what may be done with them. */
export class Schedules {
  readonly #options: SchedulesOptions

  constructor(options: SchedulesOptions) {
    this.#options = options
  }

  async create(
    { process, cron, dateTime, allowConcurrent, input }: ScheduleRequest,
    context: CallContext,
  ): Promise<ScheduleRow> {
    const asker = memberIn(context)
    const { team, name, initiatedBy } = asker
    if ((cron === undefined) === (dateTime === undefined))
      throw invalid(cron === undefined ? '/cron' : '/dateTime', 'Either a cron or a dateTime must be given')
    if (cron !== undefined) checkCron(cron)
    const { teamMaxSchedules } = this.#options
    const checked = await this.#check(process, input, context)
    const { processId, processName, versionId, revision } = checked
    const row = await this.#options.store.transaction(async (client) => {
      const zone = await noteZone(client, { team, zoneId: checked.zoneId, revision })
      if (!(await noteProcess(client, { id: processId, team, name: processName, revision }))) throw notFound('process')
      // The team's zone is held, so those who make schedules of a team are counted one after the other.
      if (await hasSchedules(client, team, teamMaxSchedules))
        throw limitReached(`The team has ${teamMaxSchedules} schedules`, 'TEAM_MAX_SCHEDULES')
      const when = cron === undefined ? { dateTime: givenTime(dateTime ?? '', zone) } : { cron }
      const nextAt = comingTime(when, zone, await databaseTime(client))
      const values = { when, nextAt, allowConcurrent, input, versionId }
      const made = { id: v7(), team, processId, createdBy: name, initiatedBy, ...values }
      const inserted = await insertSchedule(client, made)
      await record(client, asker, 'created', made.id)
      return inserted
    })
    this.#options.changed()
    return row
  }

  async get(team: string, id: string): Promise<ScheduleRow> {
    return found(validate(id) ? await readSchedule(this.#options.store, team, id) : undefined)
  }

  async list(
    team: string,
    { processId, keywords }: { processId: string; keywords: string },
    page: PageRequest | undefined,
  ): Promise<{ rows: ScheduleRow[]; info: MessageInitShape<typeof PageInfoSchema> }> {
    const window = windowOf(page)
    const filter = { team, processId: processId || undefined, keywords: keywords || undefined }
    const { rows, total } = await listSchedules(this.#options.store, filter, window)
    return { rows, info: pageInfo(window, total, rows.length) }
  }

  async update(id: string, change: ScheduleChange, context: CallContext): Promise<ScheduleRow> {
    const asker = memberIn(context)
    const { team, name } = asker
    if (change.cron !== undefined) checkCron(change.cron)
    const before = await this.get(team, id)
    const checked = await this.#check(before.processId, { ...inputOf(before), ...change.input }, context)
    const row = await this.#options.store.transaction(async (client) => {
      const zone = await noteZone(client, { team, zoneId: checked.zoneId, revision: checked.revision })
      const locked = found(await lockSchedule(client, team, id))
      const when = changedWhen(locked, change, zone)
      const isMoved = change.cron !== undefined || change.dateTime !== undefined
      const coming = isMoved ? comingTime(when, zone, await databaseTime(client)) : locked.nextAt?.getTime()
      await record(client, asker, 'updated', locked.id)
      return changeSchedule(client, locked, name, {
        when,
        nextAt: locked.paused ? undefined : coming,
        allowConcurrent: change.allowConcurrent ?? locked.allowConcurrent,
        input: { ...inputOf(locked), ...change.input },
        versionId: checked.versionId,
      })
    })
    this.#options.changed()
    return row
  }

  async delete(asker: Member, id: string): Promise<void> {
    const key = id.toLowerCase()
    if (!validate(key)) throw notFound('schedule')
    await this.#options.store.transaction(async (client) => {
      if (!(await deleteSchedule(client, asker.team, key))) throw notFound('schedule')
      await record(client, asker, 'deleted', key)
    })
  }

  async pause(id: string, context: CallContext): Promise<void> {
    const asker = memberIn(context)
    const { team, name } = asker
    await this.#options.store.transaction(async (client) => {
      const row = found(validate(id) ? await lockSchedule(client, team, id) : undefined)
      if (row.paused) throw new Failure('failed_precondition', 'schedule_paused', 'The schedule is paused already')
      await setPaused(client, row, name, true, undefined)
      await record(client, asker, 'paused', row.id)
    })
  }

  async resume(id: string, context: CallContext): Promise<void> {
    const asker = memberIn(context)
    const { team, name } = asker
    await this.get(team, id)
    await this.#options.store.transaction(async (client) => {
      const zone = await holdZone(client, team)
      const row = found(await lockSchedule(client, team, id))
      if (!row.paused) throw new Failure('failed_precondition', 'schedule_active', 'The schedule is not paused')
      const nextAt = comingTime(whenOf(row), zone, await databaseTime(client))
      await setPaused(client, row, name, false, nextAt)
      await record(client, asker, 'resumed', row.id)
    })
    this.#options.changed()
  }

  #check(identifier: string, input: RunInput, context: CallContext) {
    return this.#options.executions.checkFiring(
      { identifier, ...inputMessage(input) },
      { ...context, signal: context.signal, principal: asService('scheduler', memberIn(context).team) },
    )
  }
}

type Writer = Parameters<typeof recordAudit>[0]

function record(client: Writer, asker: Member, event: AuditEvent, entityId: string): Promise<void> {
  return recordAudit(client, asker, { type: AuditType.SCHEDULE, event, entityId })
}

function found(row: ScheduleRow | undefined): ScheduleRow {
  if (row === undefined) throw notFound('schedule')
  return row
}

function checkCron(text: string): void {
  try {
    parseCron(text)
  } catch (error) {
    if (error instanceof CronError) throw invalid('/cron', `The cron ${error.message}`)
    throw error
  }
}

function changedWhen(row: ScheduleRow, { cron, dateTime }: ScheduleChange, zone: string): When {
  if (cron !== undefined) return { cron }
  return dateTime === undefined ? whenOf(row) : { dateTime: givenTime(dateTime, zone) }
}

/** When it is due next. Failures invalid_argument where that never comes. */
function comingTime(when: When, zone: string, now: number): number {
  const next = dueAfter(when, zone, now)
  if (next !== undefined) return next
  throw 'cron' in when
    ? invalid('/cron', 'The cron names no day that ever comes')
    : invalid('/dateTime', 'The dateTime has passed')
}

// The years that RFC 3339 can write.
const latest = Date.UTC(9999, 11, 31)

/**
 * An instant as a caller gives it, in milliseconds since 1970: RFC 3339, or without an offset, then it is a time in the
 * zone. A time that its clocks leave out is when they would have shown it; of two that they show, the first is meant.
 * Failure invalid_argument at `/dateTime`.
 */
function givenTime(text: string, zone: string): number {
  const time = instantIn(text, zone)
  if (time === undefined || time > latest)
    throw invalid('/dateTime', "must be a time such as 2030-01-31T09:00:00Z, or without Z for one in the team's zone")
  return time
}

function instantIn(text: string, zone: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?([Zz]|[+-]\d\d(:?\d\d)?)?)?$/.test(text)) return undefined
  try {
    const hasOffset = /[Tt ].*([Zz]|[+-]\d\d(:?\d\d)?)$/.test(text)
    if (hasOffset) return Temporal.Instant.from(text).epochMilliseconds
    return Temporal.PlainDateTime.from(text).toZonedDateTime(zone).epochMilliseconds
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
