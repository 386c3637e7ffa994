import type { Cron } from './cron.ts'

const dayMs = 86_400_000
// From one 29 February to the next, across a century without one.
const mostDays = 8 * 366

/**
 * The first local time from `from` on that a cron means; undefined where none comes within eight years. Local times are
 * milliseconds since 1970 as if they were UTC.
 */
export function firstLocalMatch(cron: Cron, from: number): number | undefined {
  const firstDay = Math.floor(from / dayMs) * dayMs
  for (let count = 0, day = firstDay; count <= mostDays; count += 1, day += dayMs) {
    if (!matchesDay(cron, new Date(day))) continue
    const time = firstTimeOfDay(cron, day === firstDay ? Math.ceil((from - day) / 1000) : 0)
    if (time !== undefined) return day + time * 1000
  }
  return undefined
}

/** Where days of the month and of the week are given, either will do. */
function matchesDay({ months, monthDays, weekdays }: Cron, date: Date): boolean {
  if (!months.includes(date.getUTCMonth() + 1)) return false
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
