import { recordAudit, type AuditEvent } from '@automation/audit'
import { AuditType } from '@automation/contract/audit/v1/audit'
import type { LimitSchema } from '@automation/contract/common/v1/limit'
import type { PageInfoSchema, PageRequest } from '@automation/contract/common/v1/page'
import type { FiringService } from '@automation/contract/execution/v1/firing'
import { Failure, limitReached, notFound } from '@automation/errors'
import { Faults } from '@automation/errors/faults'
import { pageInfo, requireUnchanged, windowOf } from '@automation/database'
import { asService, memberIn, type CallContext, type Client, type Member } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { v7, validate } from 'uuid'
import { changesMore, type ScheduleChange } from './change.ts'
import { checkGivenTime, comingTime, givenTime } from './given-times.ts'
import { editOf, inputMessage, inputOf, whenOf, type RunInput, type ScheduleRow, type When } from './schedule.ts'
import { noteProcess } from './store/processes.ts'
import {
  changeSchedule,
  databaseTime,
  deleteSchedule,
  countSchedules,
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
interface ScheduleRequest {
  /** A process id or slug. */
  process: string
  cron: string | undefined
  /** As the caller gives it. */
  dateTime: string | undefined
  allowConcurrent: boolean
  paused: boolean
  input: RunInput
}

interface SchedulesOptions {
  store: Store
  executions: Client<typeof FiringService>
  teamMaxSchedules: number
  /** Something may be due earlier than before. */
  changed(): void
  /** There may be firings of deleted schedules. */
  deleted(): void
}

/** The schedules of teams, and what may be done with them. */
export class Schedules {
  readonly #options: SchedulesOptions

  constructor(options: SchedulesOptions) {
    this.#options = options
  }

  async create(
    { process, cron, dateTime, allowConcurrent, paused, input }: ScheduleRequest,
    context: CallContext,
  ): Promise<ScheduleRow> {
    const asker = memberIn(context)
    const { team, name, initiatedBy } = asker
    const { teamMaxSchedules } = this.#options
    const checked = await this.#check(process, input, () => checkGivenTime(cron, dateTime), context)
    const { processId, processName, versionId, revision } = checked
    const row = await this.#options.store.transactionFor(team, async (client) => {
      const zone = await noteZone(client, { team, zoneId: checked.zoneId, revision })
      if (!(await noteProcess(client, { id: processId, team, name: processName, revision }))) throw notFound('process')
      // The team's zone is held, so those who make schedules of a team are counted one after the other.
      if (await hasSchedules(client, team, teamMaxSchedules))
        throw limitReached(`The team has ${teamMaxSchedules} schedules`, 'schedules in TEAM_LIMITS')
      const when = cron === undefined ? { dateTime: givenTime(dateTime ?? '', zone) } : { cron }
      const coming = comingTime(when, zone, await databaseTime(client))
      const values = { when, nextAt: paused ? undefined : coming, allowConcurrent, paused, input, versionId }
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

  /** How many a team may have, and has. */
  async limits(team: string): Promise<MessageInitShape<typeof LimitSchema>[]> {
    const { store, teamMaxSchedules } = this.#options
    const inUse = await countSchedules(store, team)
    return [{ name: 'schedules', allowed: BigInt(teamMaxSchedules), inUse: BigInt(inUse) }]
  }

  /**
   * Pauses and resumes, too; one that is so already stays so. `ifMatch` are entity tags; where there are some, fails with
   * changed_meanwhile unless one is that of the schedule.
   */
  async update(id: string, change: ScheduleChange, ifMatch: string[], context: CallContext): Promise<ScheduleRow> {
    const asker = memberIn(context)
    const { team, name } = asker
    const before = await this.get(team, id)
    const { cron, dateTime } = change
    const input = { ...inputOf(before), ...change.input }
    const checkTime = () => (cron ?? dateTime) !== undefined && checkGivenTime(cron, dateTime)
    const checked = await this.#check(before.processId, input, checkTime, context)
    const row = await this.#options.store.transactionFor(team, async (client) => {
      const zone = await noteZone(client, { team, zoneId: checked.zoneId, revision: checked.revision })
      const locked = found(await lockSchedule(client, team, id))
      requireUnchanged(ifMatch, editOf(locked))
      const when = changedWhen(locked, change, zone)
      const { paused = locked.paused } = change
      const isMoved = change.cron !== undefined || change.dateTime !== undefined || (locked.paused && !paused)
      const coming = isMoved ? comingTime(when, zone, await databaseTime(client)) : locked.nextAt?.getTime()
      const isSwitched = paused !== locked.paused
      if (isSwitched) await record(client, asker, paused ? 'paused' : 'resumed', locked.id)
      if (!isSwitched || changesMore(change)) await record(client, asker, 'updated', locked.id)
      return changeSchedule(client, locked, name, {
        when,
        nextAt: paused ? undefined : coming,
        allowConcurrent: change.allowConcurrent ?? locked.allowConcurrent,
        paused,
        input: { ...inputOf(locked), ...change.input },
        versionId: checked.versionId,
      })
    })
    this.#options.changed()
    return row
  }

  async delete(asker: Member, id: string, ifMatch: string[]): Promise<void> {
    await this.#options.store.transactionFor(asker.team, async (client) => {
      const row = found(validate(id) ? await lockSchedule(client, asker.team, id) : undefined)
      requireUnchanged(ifMatch, editOf(row))
      await deleteSchedule(client, row)
      await record(client, asker, 'deleted', row.id)
    })
    this.#options.deleted()
  }

  async pause(id: string, ifMatch: string[], context: CallContext): Promise<ScheduleRow> {
    const asker = memberIn(context)
    const { team, name } = asker
    return this.#options.store.transactionFor(team, async (client) => {
      const row = found(validate(id) ? await lockSchedule(client, team, id) : undefined)
      // Before the tag, which a pause has changed: a call that is repeated after a lost answer learns that it is done.
      if (row.paused) throw new Failure('failed_precondition', 'schedule_paused', 'The schedule is paused already')
      requireUnchanged(ifMatch, editOf(row))
      await record(client, asker, 'paused', row.id)
      return setPaused(client, row, name, true, undefined)
    })
  }

  async resume(id: string, ifMatch: string[], context: CallContext): Promise<ScheduleRow> {
    const asker = memberIn(context)
    const { team, name } = asker
    await this.get(team, id)
    const resumed = await this.#options.store.transactionFor(team, async (client) => {
      const zone = await holdZone(client, team)
      const row = found(await lockSchedule(client, team, id))
      if (!row.paused) throw new Failure('failed_precondition', 'schedule_active', 'The schedule is not paused')
      requireUnchanged(ifMatch, editOf(row))
      const nextAt = comingTime(whenOf(row), zone, await databaseTime(client))
      await record(client, asker, 'resumed', row.id)
      return setPaused(client, row, name, false, nextAt)
    })
    this.#options.changed()
    return resumed
  }

  /** What a firing would run, and with what. Its faults are told together with those that `checkTime` finds. */
  async #check(identifier: string, input: RunInput, checkTime: () => unknown, context: CallContext) {
    const faults = new Faults()
    faults.of(checkTime)
    const checked = await faults.ofWork(
      this.#options.executions.checkFiring(
        { identifier, ...inputMessage(input) },
        { ...context, signal: context.signal, principal: asService('scheduler', memberIn(context).team) },
      ),
    )
    faults.check()
    return checked!
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

function changedWhen(row: ScheduleRow, { cron, dateTime }: ScheduleChange, zone: string): When {
  if (cron !== undefined) return { cron }
  return dateTime === undefined ? whenOf(row) : { dateTime: givenTime(dateTime, zone) }
}
