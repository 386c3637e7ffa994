import { parseCron } from './cron/cron.ts'
import { lastDue, nextDue } from './cron/next-due.ts'
import type { When } from './schedule.ts'

/** What becomes of the nominal times of a schedule that have come. Milliseconds since 1970. */
export interface Due {
  /** The one that is fired. */
  fires?: number
  /** One that is not, because it was missed for too long. */
  missed?: number
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
  return { fires, missed: fires === at ? undefined : at, next: nextDue(cron, zone, now) }
}
