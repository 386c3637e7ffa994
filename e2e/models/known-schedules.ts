import type { Execution, Page, Schedule } from '../client/records.ts'
import { agree, expectAnswer } from './agree.ts'
import type { Real } from './machine.ts'

export type When = { cron: string } | { dateTime: number }

/** A time at which something was asked for: it happened between these two. Milliseconds since 1970. */
export interface Moment {
  from: number
  to: number
}

/** A time in which a schedule was active with one `when`. */
interface Span {
  when: When
  since: Moment
  until: Moment | undefined
}

/** A schedule as the model knows it. */
export interface Known {
  id: string
  when: When
  paused: boolean
  allowConcurrent: boolean
  comment: string | undefined
  isGone: boolean
  spans: Span[]
}

export interface Schedules {
  /** Oldest first. */
  known: Known[]
}

export interface OnSchedules extends Real {
  processId: string
}

export const yearly = '0 0 1 1 *'
export const everySecond = '* * * * * *'

/** What is due begins within this time, on a busy machine too. */
export const beginsWithinMs = 10_000

export const there = ({ known }: Schedules) => known.filter(({ isGone }) => !isGone)

/** What it comes to is done between now and the answer. */
export async function timed<T>(call: () => Promise<T>): Promise<[T, Moment]> {
  const from = Date.now()
  const answer = await call()
  return [answer, { from, to: Date.now() }]
}

/** From this moment on it is active with what it has, or not at all. */
export function turn(known: Known, at: Moment, isActive: boolean): void {
  const last = known.spans.at(-1)
  if (last !== undefined) last.until ??= at
  if (isActive) known.spans.push({ when: known.when, since: at, until: undefined })
}

/** Between how many runs a schedule has started by now; what is being decided may be among them or not. */
export function runsBetween({ spans }: Known, now: number): [number, number] {
  let [least, most] = [0, 0]
  for (const { when, since, until } of spans) {
    const [end, surelyEnd] = [until?.to ?? now, (until?.from ?? now) - beginsWithinMs]
    if ('dateTime' in when) {
      if (when.dateTime <= end) most += 1
      if (when.dateTime <= surelyEnd && when.dateTime > since.to) least += 1
    } else if (when.cron === everySecond) most += Math.floor(end / 1000) - Math.floor(since.from / 1000)
  }
  return [least, most]
}

export function check(known: Known, schedule: Schedule, asked: number, about: string): void {
  const { id, when, paused, allowConcurrent, comment } = known
  agree([schedule.id, schedule.paused, schedule.comment], [id, paused, comment], about)
  agree(schedule.settings.allowConcurrentExecutions, allowConcurrent, about)
  const { nextExecutionAt: next } = schedule
  if ('cron' in when) {
    agree([schedule.type, schedule.cron, schedule.dateTime], ['PERIODIC', when.cron, undefined], about)
    agree(next !== undefined, !paused, `${about}: whether it is to come`)
    if (next !== undefined && Date.parse(next) < asked - beginsWithinMs)
      throw new Error(`${about}: it is late for ${next}`)
    return
  }
  const dateTime = new Date(when.dateTime).toISOString()
  agree([schedule.type, schedule.cron, schedule.dateTime], ['ONE_TIME', undefined, dateTime], about)
  const words: (string | undefined)[] = paused || when.dateTime < asked - beginsWithinMs ? [undefined] : [dateTime]
  if (!paused && when.dateTime <= Date.now()) words.push(undefined)
  if (!words.includes(next)) throw new Error(`${about}: it comes ${next}, the model says ${words.join(' or ')}`)
}

/** The runs of all its schedules, by schedule. */
export async function runsOf({ client, processId }: OnSchedules): Promise<Map<string, Execution[]>> {
  const answer = await client.get<Page<Execution>>('/executions', { processId, limit: 1000 })
  expectAnswer(answer, ['200'], 'listing runs')
  return Map.groupBy(answer.body.data, ({ scheduledId }) => scheduledId ?? '')
}

/** No schedule has started more runs than it had times, nor missed one for a single time. */
export async function checkRuns({ known }: Schedules, real: OnSchedules): Promise<void> {
  const asked = Date.now()
  const runs = await runsOf(real)
  for (const each of known) {
    const count = runs.get(each.id)?.length ?? 0
    const [least] = runsBetween(each, asked)
    const [, most] = runsBetween(each, Date.now())
    if (count < least || count > most)
      throw new Error(`A schedule has started ${count} runs, the model says ${least} to ${most}`)
  }
  agree(runs.has(''), false, 'a run that no schedule has started')
}
