import type { PageInfoSchema, PageRequest } from '@automation/contract/common/v1/page'
import { FiringState, type FiringSchema, type NextFiringSchema } from '@automation/contract/schedule/v1/schedule'
import { pageInfo, TeamShare, windowOf } from '@automation/database'
import { invalid } from '@automation/errors'
import { memberIn, type CallContext } from '@automation/rpc'
import { EventLoopTurns } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { validate } from 'uuid'
import { parseCron } from './cron/cron.ts'
import { nextDue } from './cron/next-due.ts'
import type { References } from './references.ts'
import type { ScheduleRow } from './schedule.ts'
import {
  comingSchedules,
  firingsBetween,
  listFirings,
  nextFirings,
  type ComingSchedule,
  type KeptFiring,
  type TimeSpan,
} from './store/firing-lists.ts'
import type { Store } from './store/store.ts'

type FiringMessage = MessageInitShape<typeof FiringSchema>

const mostFirings = 10_000
const mostProcesses = 1000
/** As long as callers wait. */
const calendarWaitMs = 15_000
const longestSpanMs = 10 * 366 * 86_400_000

/** What has come and what comes of schedules. */
export class FiringLists {
  readonly #store: Store
  readonly #references: References
  /** One calendar of a team at a time: its other ones wait. */
  readonly #calendars = new TeamShare(1, calendarWaitMs)

  constructor(store: Store, references: References) {
    this.#store = store
    this.#references = references
  }

  /** A page of what became of a schedule's times, newest first. */
  async ofSchedule(
    { id, team }: Pick<ScheduleRow, 'id' | 'team'>,
    page: PageRequest | undefined,
    context: CallContext,
  ): Promise<{ firings: FiringMessage[]; page: MessageInitShape<typeof PageInfoSchema> }> {
    const window = windowOf(page)
    const { rows, total } = await listFirings(this.#store, { team, id }, window)
    return { firings: await this.#named(rows.map(firingMessage), context), page: pageInfo(window, total, rows.length) }
  }

  /** All in a span of time, the earliest first. Failure too_many_firings, after bounded work. */
  async between(span: TimeSpan, context: CallContext): Promise<FiringMessage[]> {
    if (span.to < span.from) throw invalid('/to', 'must not be earlier than from')
    if (span.to.getTime() - span.from.getTime() > longestSpanMs)
      throw invalid('/to', 'must be within ten years of from: narrow the span')
    const { team } = memberIn(context)
    const ordered = await this.#calendars.use(team, () => this.#calendar(team, span, context.signal))
    return this.#named(ordered, context)
  }

  async #calendar(team: string, span: TimeSpan, signal: AbortSignal): Promise<FiringMessage[]> {
    const { schedules, zoneId } = await comingSchedules(this.#store, team, span.to, mostFirings + 1)
    const coming = await comingFirings(schedules, zoneId, span, signal)
    const past = await firingsBetween(this.#store, team, span, mostFirings + 1 - coming.length)
    if (past.length + coming.length > mostFirings) throw tooMany()
    // What has come meanwhile is kept by now.
    const keyOf = (scheduleId: string, at: Date) => `${scheduleId} ${at.getTime()}`
    const kept = new Set(past.map(({ scheduleId, nominalAt }) => keyOf(scheduleId, nominalAt)))
    const all = [
      ...past.map((row) => ({ at: row.nominalAt, firing: firingMessage(row) })),
      ...coming
        .filter(({ schedule, at }) => !kept.has(keyOf(schedule.id, at)))
        .map(({ schedule, at }) => ({ at, firing: comingMessage(schedule, at) })),
    ]
    return all.toSorted((a, b) => a.at.getTime() - b.at.getTime()).map(({ firing }) => firing)
  }

  /** When something comes next of each of these processes, where something does; in no order. Failure invalid_input. */
  async next(team: string, processIds: string[]): Promise<MessageInitShape<typeof NextFiringSchema>[]> {
    if (processIds.length > mostProcesses) throw invalid('/processIds', `must be at most ${mostProcesses}`)
    const rows = await nextFirings(
      this.#store,
      team,
      processIds.filter((id) => validate(id)),
    )
    return rows.map(({ processId, at }) => ({ processId, at: timestampFromDate(at) }))
  }

  /** With the slugs of their processes, by one call. */
  async #named(firings: FiringMessage[], context: CallContext): Promise<FiringMessage[]> {
    const processIds = [...new Set(firings.flatMap(({ processId }) => processId ?? []))]
    const references = processIds.map((processId) => ({ processId, tag: '' }))
    const found = await this.#references.lookUp(memberIn(context).team, references, context)
    const slugs = new Map(processIds.map((id, place) => [id, found?.[place]?.processSlug ?? '']))
    return firings.map((firing) => ({ ...firing, processSlug: slugs.get(firing.processId ?? '') ?? '' }))
  }
}

interface ComingFiring {
  schedule: ComingSchedule
  at: Date
}

/** What comes in a span, unless nobody waits for it any more. Failure too_many_firings as soon as that is known. */
async function comingFirings(
  schedules: readonly ComingSchedule[],
  zone: string,
  { from, to }: TimeSpan,
  signal: AbortSignal,
): Promise<ComingFiring[]> {
  const coming: ComingFiring[] = []
  const last = to.getTime()
  const turns = new EventLoopTurns()
  for (const schedule of schedules) {
    await turns.next()
    signal.throwIfAborted()
    if (schedule.nextAt >= from) coming.push({ schedule, at: schedule.nextAt })
    if (coming.length > mostFirings) throw tooMany()
    if (schedule.cron === null) continue
    const cron = parseCron(schedule.cron)
    const after = Math.max(schedule.nextAt.getTime(), from.getTime() - 1)
    for (let at = nextDue(cron, zone, after, last); at !== undefined && at <= last;) {
      if (coming.push({ schedule, at: new Date(at) }) > mostFirings) throw tooMany()
      await turns.next()
      at = nextDue(cron, zone, at, last)
    }
  }
  return coming
}

function tooMany() {
  const text = `There are more than ${mostFirings} firings in this span: narrow it with \`from\` and \`to\``
  return invalid('/to', text, 'too_many_firings')
}

const states: Readonly<Record<number, FiringState>> = {
  1: FiringState.WAITING,
  2: FiringState.WAITING,
  3: FiringState.STARTED,
  4: FiringState.SKIPPED,
}

function firingMessage(row: KeptFiring): FiringMessage {
  const { scheduleId, processId, nominalAt, state, rejected, executionId, explanation } = row
  return {
    scheduleId,
    processId,
    nominalAt: timestampFromDate(nominalAt),
    state: rejected ? FiringState.REJECTED : states[state],
    executionId: executionId ?? undefined,
    reason: explanation ?? undefined,
  }
}

function comingMessage({ id, processId }: ComingSchedule, at: Date): FiringMessage {
  return { scheduleId: id, processId, nominalAt: timestampFromDate(at), state: FiringState.COMING }
}
