import { invalid } from '@automation/errors'
import { CronError, parseCron, type Cron } from './cron/cron.ts'
import { dueAfter, zoneOfClocks } from './cron/next-due.ts'
import type { When } from './schedule.ts'

/** What a cron says. Failure invalid_argument at `/cron`. */
export function checkedCron(text: string): Cron {
  try {
    return parseCron(text)
  } catch (error) {
    if (error instanceof CronError) throw invalid('/cron', `The cron ${error.message}`)
    throw error
  }
}

/** When it is due next. Failures invalid_argument where that never comes. */
export function comingTime(when: When, zone: string, now: number): number {
  const next = dueAfter(when, zone, now)
  if (next !== undefined) return next
  throw 'cron' in when
    ? invalid('/cron', 'The cron names no day that ever comes')
    : invalid('/dateTime', 'The dateTime has passed; give one that is still to come')
}

// The years that RFC 3339 can write.
const latest = Date.UTC(9999, 11, 31)

/**
 * An instant as a caller gives it, in milliseconds since 1970: RFC 3339, or without an offset, then it is a time in the
 * zone. A time that its clocks leave out is when they go on, as for a cron; of two that they show, the first is meant.
 * Failure invalid_argument at `/dateTime`.
 */
export function givenTime(text: string, zone: string): number {
  const time = instantIn(text, zone)
  if (time === undefined || time > latest)
    throw invalid('/dateTime', "must be a time such as 2030-01-31T09:00:00Z, or without Z for one in the team's zone")
  return time
}

/** Whether one of the two is given, in its form. Failures invalid_argument at `/cron` and `/dateTime`. */
export function checkGivenTime(cron: string | undefined, dateTime: string | undefined): void {
  if (cron === undefined && dateTime === undefined) throw invalid('/cron', 'Either a cron or a dateTime must be given')
  if (cron !== undefined && dateTime !== undefined) throw invalid('/dateTime', 'may not be given together with a cron')
  if (cron !== undefined) checkedCron(cron)
  // A form that is right in one zone is right in each.
  if (dateTime !== undefined) givenTime(dateTime, 'UTC')
}

/** Whether a time is given with its offset, or as one of UTC. */
export function hasOffset(text: string): boolean {
  return /[Tt ].*([Zz]|[+-]\d\d(:?\d\d)?)$/.test(text)
}

function instantIn(text: string, zone: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?([Zz]|[+-]\d\d(:?\d\d)?)?)?$/.test(text)) return undefined
  try {
    if (hasOffset(text)) return Temporal.Instant.from(text).epochMilliseconds
    const local = Temporal.PlainDateTime.from(text)
    const time = local.toZonedDateTime(zoneOfClocks(zone), { disambiguation: 'earlier' })
    const isShown = time.toPlainDateTime().equals(local)
    return (isShown ? time : (time.getTimeZoneTransition('next') ?? time)).epochMilliseconds
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
