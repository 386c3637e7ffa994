import type { Cron } from './cron.ts'
import { firstLocalMatch } from './local-match.ts'
import { evenTimeAt } from './zone-clock.ts'

const missedAtMostMs = 3_600_000

/**
 * The first instant after `after` at which a cron is due in a zone; undefined where none comes. Milliseconds since 1970.
 * Where the hours are fixed, a time that the clocks leave out is due when they go on, and one that they show twice is
 * due the first time. Where hours are `*` or a step, every real minute that matches is due.
 */
export function nextDue(cron: Cron, zone: string, after: number): number | undefined {
  for (let time = evenTimeAt(zone, after + 1); ; time = evenTimeAt(zone, time.end)) {
    const { start, end, offset, offsetBefore } = time
    const leftOff = start + offsetBefore
    if (!cron.everyRealHour && start > after && leftOff < start + offset) {
      const leftOut = firstLocalMatch(cron, leftOff)
      if (leftOut !== undefined && leftOut < start + offset) return start
    }
    const goesOn = Math.max(after + 1, start) + offset
    const match = firstLocalMatch(cron, cron.everyRealHour ? goesOn : Math.max(goesOn, leftOff))
    if (match === undefined) return undefined
    if (match - offset < end) return match - offset
  }
}

/**
 * Of the instants from `from` to `now` at which a cron was due: the last one, if it is not an hour ago. `from` is one of
 * them.
 */
export function lastDue(cron: Cron, zone: string, from: number, now: number): number | undefined {
  let last: number | undefined
  let due: number | undefined = from > now - missedAtMostMs ? from : nextDue(cron, zone, now - missedAtMostMs)
  while (due !== undefined && due <= now) {
    last = due
    due = nextDue(cron, zone, due)
  }
  return last
}
