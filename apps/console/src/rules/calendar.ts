/** A day of a calendar, as `2026-10-25`. */
export type Day = string

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  formats.set(zone, format)
  return format
}

interface LocalTime {
  day: Day
  hour: number
  minute: number
}

/** What the clocks of a zone show at an instant. */
export function localTime(zone: string, atMs: number): LocalTime {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  )
  return {
    day: `${parts['year']}-${parts['month']}-${parts['day']}`,
    hour: Number(parts['hour']),
    minute: Number(parts['minute']),
  }
}

const two = (part: number): string => String(part).padStart(2, '0')

/** What the clocks of a zone show, as `02:30`. */
export function clock(zone: string, atMs: number): string {
  const { hour, minute } = localTime(zone, atMs)
  return `${two(hour)}:${two(minute)}`
}

const utcOf = (day: Day): number => Date.parse(`${day}T00:00:00Z`)

/** The day so many days after another one. */
export const addDays = (day: Day, days: number): Day => new Date(utcOf(day) + days * DAY_MS).toISOString().slice(0, 10)

/** The Monday of a day's week. */
export const mondayOf = (day: Day): Day => addDays(day, -((new Date(utcOf(day)).getUTCDay() + 6) % 7))

/** The first day of a day's month. */
export const firstOfMonth = (day: Day): Day => `${day.slice(0, 7)}-01`

/** The first day of the month that is so many months after that of a day. */
export function addMonths(day: Day, months: number): Day {
  const [year = 0, month = 1] = day.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10)
}

/** The instant at which a day begins in a zone. Not every day begins at 00:00, and not every one has 24 hours. */
export function startOf(zone: string, day: Day): number {
  const middle = utcOf(day)
  // No zone is further from UTC than this.
  return firstMinute(middle - 15 * 60 * MINUTE_MS, middle + 15 * 60 * MINUTE_MS, (at) => localTime(zone, at).day >= day)
}

/** The first whole minute after `fromMs` at which something holds that holds from then on, until `toMs`. */
function firstMinute(fromMs: number, toMs: number, holds: (atMs: number) => boolean): number {
  let low = Math.floor(fromMs / MINUTE_MS)
  let high = Math.ceil(toMs / MINUTE_MS)
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle * MINUTE_MS)) high = middle
    else low = middle
  }
  return high * MINUTE_MS
}

/** How far the clocks of a zone are ahead of UTC, in minutes. */
function offsetMinutes(zone: string, atMs: number): number {
  const { day, hour, minute } = localTime(zone, atMs)
  return Math.round((utcOf(day) - atMs) / MINUTE_MS) + hour * 60 + minute
}

export interface ClockChange {
  /** `gap`: the clocks leave out times; `repeated`: they show them twice. */
  kind: 'gap' | 'repeated'
  atMs: number
  /** The times of the clocks that are left out or shown twice, the second one not among them. */
  from: string
  to: string
}

/** The change of the clocks of a zone on a day, where there is one. */
export function clockChange(zone: string, day: Day): ClockChange | undefined {
  const startMs = startOf(zone, day)
  const endMs = startOf(zone, addDays(day, 1))
  const before = offsetMinutes(zone, startMs)
  const after = offsetMinutes(zone, endMs - MINUTE_MS)
  if (before === after) return undefined
  const atMs = firstMinute(startMs, endMs, (at) => offsetMinutes(zone, at) !== before)
  const shown = (offset: number) => {
    const minutes = (((Math.round(atMs / MINUTE_MS) + offset) % 1440) + 1440) % 1440
    return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  }
  return after > before
    ? { kind: 'gap', atMs, from: shown(before), to: shown(after) }
    : { kind: 'repeated', atMs, from: shown(after), to: shown(before) }
}

export interface Firing {
  scheduleId: string
  processSlug: string
  nominalAt: string
  state: 'coming' | 'waiting' | 'started' | 'skipped' | 'rejected'
  executionId?: string
  reason?: string
}

/** The firings of one schedule in one cell of a calendar: those that are still to come, or the others. */
export interface FiringGroup {
  scheduleId: string
  processSlug: string
  firings: Firing[]
  /** What of its states is to be seen first. */
  state: Firing['state']
}

const worst: readonly Firing['state'][] = ['rejected', 'skipped', 'waiting', 'started', 'coming']

/** Firings by cells, and within each by their schedules, as some fire often; those to come apart. */
export function inCells(firings: readonly Firing[], cellOf: (atMs: number) => string): Map<string, FiringGroup[]> {
  const cells = new Map<string, FiringGroup[]>()
  for (const firing of firings) {
    const cell = cellOf(Date.parse(firing.nominalAt))
    const groups = cells.get(cell) ?? []
    if (groups.length === 0) cells.set(cell, groups)
    const { scheduleId, processSlug, state } = firing
    const isComing = state === 'coming'
    const group = groups.find((one) => one.scheduleId === scheduleId && (one.state === 'coming') === isComing)
    if (group === undefined) groups.push({ scheduleId, processSlug, firings: [firing], state })
    else {
      group.firings.push(firing)
      if (worst.indexOf(state) < worst.indexOf(group.state)) group.state = state
    }
  }
  return cells
}

/** How many firings of a cell are due at the same instant as one of another schedule. */
export function overlapsIn(groups: readonly FiringGroup[]): number {
  const schedulesAt = new Map<string, Set<string>>()
  for (const { scheduleId, firings } of groups)
    for (const { nominalAt } of firings)
      schedulesAt.set(nominalAt, (schedulesAt.get(nominalAt) ?? new Set()).add(scheduleId))
  return [...schedulesAt.values()].filter((schedules) => schedules.size > 1).length
}
