import { type Cron, parseCron } from './cron.ts'
import type { When } from '../schedule.ts'

/** What happens again and again is not made up for after so long. */
export const missedAfterMs = 3_600_000
/** Why nothing came of a time. */
export const missedTooLong = 'It was missed for too long'

/**
 * The first instant after `after` at which a cron is due in a zone; undefined where none comes. Milliseconds since 1970.
 * Where the hours are fixed, a time that the clocks leave out is due when they go on, and one that they show twice is
 * due the first time. Where hours are `*` or a step, every real minute that matches is due. What comes later than `until`
 * is not looked for, but may be found.
 */
export function nextDue(cron: Cron, zone: string, after: number, until = Infinity): number | undefined {
  const last = Math.min(after + mostDays * dayMs, until)
  for (let time = evenTimeAt(zone, after + 1); time.start <= last;) {
    const { start, end, offset, offsetBefore } = time
    const leftOff = start + offsetBefore
    if (!cron.everyRealHour && start > after && leftOff < start + offset) {
      const leftOut = firstLocalMatch(cron, leftOff)
      if (leftOut !== undefined && leftOut < start + offset) return start
    }
    const goesOn = Math.max(after + 1, start) + offset
    // Clocks are put forward by less than a day.
    const match = firstLocalMatch(cron, cron.everyRealHour ? goesOn : Math.max(goesOn, leftOff), until + offset + dayMs)
    if (match === undefined) return undefined
    if (match - offset < end) return match - offset
    // Nothing is meant before the match: the even times until shortly before it need no look.
    time = evenTimeAt(zone, Math.max(end, match - offset - 2 * dayMs))
  }
  // A time that the clocks leave out in each year.
  return undefined
}

/** What the clocks of a zone show at an instant, in milliseconds since 1970 as if it were UTC. */
export function localAt(zone: string, instant: number): number {
  return instant + evenTimeAt(zone, instant).offset
}

/** Whether the clocks of a zone, at an instant, show a time that a cron means. */
export function showsMeant(cron: Cron, zone: string, instant: number): boolean {
  const local = localAt(zone, instant)
  return firstLocalMatch(cron, local) === local
}

/** Whether the clocks of a zone show the time of an instant twice. */
export function isRepeated(zone: string, instant: number): boolean {
  const { start, end, offset, offsetBefore } = evenTimeAt(zone, instant)
  if (instant + offset < start + offsetBefore) return true
  return end !== Infinity && instant + offset >= end + evenTimeAt(zone, end).offset
}

/**
 * Of the instants from `from` to `now` at which a cron was due: the last one, if it is not an hour ago. `from` is one of
 * them.
 */
export function lastDue(cron: Cron, zone: string, from: number, now: number): number | undefined {
  const first = from > now - missedAfterMs ? from : nextDue(cron, zone, now - missedAfterMs, now)
  if (first === undefined || first > now) return undefined
  // Halved, as there may be one in each second. Nothing is due behind `end`.
  let last = first
  for (let end = now; end - last >= 1000;) {
    const middle = Math.floor((last + end) / 2)
    const due = nextDue(cron, zone, middle, now)
    if (due !== undefined && due <= now) last = due
    else end = middle
  }
  return last
}

const dayMs = 86_400_000
// From one 29 February to the next, across a century without one.
const mostDays = 8 * 366

/**
 * The first local time from `from` on that a cron means; undefined where none comes within eight years, or on the days up
 * to `until`. Local times are milliseconds since 1970 as if they were UTC.
 */
function firstLocalMatch(cron: Cron, from: number, until = Infinity): number | undefined {
  const firstDay = Math.floor(from / dayMs) * dayMs
  const lastDay = Math.min(firstDay + mostDays * dayMs, until)
  for (let day = firstDay; day <= lastDay;) {
    const date = new Date(day)
    if (!cron.months.includes(date.getUTCMonth() + 1)) {
      day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
      continue
    }
    const time = matchesDay(cron, date) && firstTimeOfDay(cron, day === firstDay ? Math.ceil((from - day) / 1000) : 0)
    if (typeof time === 'number') return day + time * 1000
    day += dayMs
  }
  return undefined
}

/** Of a month that is meant. Where days of the month and of the week are given, either will do. */
function matchesDay({ monthDays, weekdays }: Cron, date: Date): boolean {
  if (monthDays === undefined && weekdays === undefined) return true
  const day = date.getUTCDate()
  const daysLeft = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate() - day
  if (monthDays !== undefined && (monthDays.days.includes(day) || monthDays.fromLast.includes(daysLeft))) return true
  if (weekdays === undefined) return false
  const weekday = date.getUTCDay()
  return weekdays.days.includes(weekday) || (daysLeft < 7 && weekdays.last.includes(weekday))
}

/** In seconds of the day, from `from` on. */
function firstTimeOfDay({ hours, minutes, seconds }: Cron, from: number): number | undefined {
  for (const hour of hours) {
    if ((hour + 1) * 3600 <= from) continue
    for (const minute of minutes) {
      const start = hour * 3600 + minute * 60
      const second = seconds.find((candidate) => start + candidate >= from)
      if (second !== undefined) return start + second
    }
  }
  return undefined
}

/** A time in which the clocks of a zone run evenly. Milliseconds since 1970; the end is not part of it. */
interface EvenTime {
  start: number
  end: number
  /** How much later than UTC the clocks are, and were just before the start. */
  offset: number
  offsetBefore: number
}

const known = new Map<string, EvenTime[]>()
const mostKnown = 64

/** The even time of a zone (IANA name) that an instant is in. Throws RangeError for a zone that there is not. */
function evenTimeAt(zone: string, instant: number): EvenTime {
  const times = known.get(zone) ?? []
  const found = times.find(({ start, end }) => start <= instant && instant < end)
  if (found !== undefined) return found
  const time = readEvenTime(zone, instant)
  if (times.length >= mostKnown) times.shift()
  known.set(zone, [...times, time])
  return time
}

function readEvenTime(zone: string, instant: number): EvenTime {
  const at = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zoneOfClocks(zone))
  const last = at.add({ milliseconds: 1 }).getTimeZoneTransition('previous')
  const next = at.getTimeZoneTransition('next')
  const offset = at.offsetNanoseconds / 1e6
  return {
    start: last?.epochMilliseconds ?? -Infinity,
    end: next?.epochMilliseconds ?? Infinity,
    offset,
    offsetBefore: last === null ? offset : last.subtract({ milliseconds: 1 }).offsetNanoseconds / 1e6,
  }
}

/** A zone by the name that clocks are computed by: some older names, such as PST, are known to `Intl` alone. */
export function zoneOfClocks(zone: string): string {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  }
}

/** What becomes of the nominal times of a schedule that have come. Milliseconds since 1970. */
export interface Due {
  /** The one that is fired. */
  fires?: number
  /** The first of those that are not, because they were missed for too long, and why. */
  missed?: { at: number; explanation: string }
  /** The next that comes. */
  next?: number
}

/** When a schedule is due after `after`; undefined where it is not. */
export function dueAfter(when: When, zone: string, after: number): number | undefined {
  if ('dateTime' in when) return when.dateTime > after ? when.dateTime : undefined
  return nextDue(parseCron(when.cron), zone, after)
}

/**
 * What is due at `now`, where the nominal time `at` has come: what happens once is fired however late it is; of what
 * happens again and again the last time alone, if it is not an hour ago.
 */
export function dueAt(when: When, zone: string, at: number, now: number): Due {
  if ('dateTime' in when) return { fires: at }
  const cron = parseCron(when.cron)
  const fires = lastDue(cron, zone, at, now)
  const missed = fires === at ? undefined : { at, explanation: whyMissed(cron, zone, at, fires ?? now) }
  return { fires, missed, next: nextDue(cron, zone, now) }
}

/** More are not counted. */
const mostMissed = 100

/** Of the time `at`, with what was missed behind it and before `end`. */
function whyMissed(cron: Cron, zone: string, at: number, end: number): string {
  let [more, last] = [0, at]
  for (let due = nextDue(cron, zone, at, end); due !== undefined && due < end; due = nextDue(cron, zone, due, end)) {
    if (more === mostMissed) return `${missedTooLong}, and so were more than ${mostMissed} until ${textOf(end)}`
    more += 1
    last = due
  }
  return more === 0 ? missedTooLong : `${missedTooLong}, and so were ${more} more until ${textOf(last)}`
}

function textOf(instant: number): string {
  return new Date(instant).toISOString()
}
