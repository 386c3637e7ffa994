/** When a schedule is due, as its fields say; times of day are those of the team's zone. */
export interface Cron {
  seconds: readonly number[]
  minutes: readonly number[]
  hours: readonly number[]
  /** The hours were given by `*`, `?` or a step: every real minute counts, also one that the clocks show twice. */
  everyRealHour: boolean
  months: readonly number[]
  /** Undefined where every day of the month will do. */
  monthDays?: MonthDays
  /** Undefined where every day of the week will do. */
  weekdays?: Weekdays
}

interface MonthDays {
  days: readonly number[]
  /** How many days before the last one of the month: 0 is the last itself. */
  fromLast: readonly number[]
}

interface Weekdays {
  /** 0 is Sunday. */
  days: readonly number[]
  /** Days of the week of which the last one in the month is meant. */
  last: readonly number[]
}

/** What is wrong with a text that should be a cron expression, for whoever wrote it. */
export class CronError extends Error {}

const names = {
  months: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  weekdays: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
}

interface Field {
  name: string
  min: number
  max: number
  names?: readonly string[]
}

const seconds: Field = { name: 'second', min: 0, max: 59 }
const minutes: Field = { name: 'minute', min: 0, max: 59 }
const hours: Field = { name: 'hour', min: 0, max: 23 }
const monthDays: Field = { name: 'day of the month', min: 1, max: 31 }
const months: Field = { name: 'month', min: 1, max: 12, names: names.months }
const weekdays: Field = { name: 'day of the week', min: 0, max: 7, names: names.weekdays }

const mostCharacters = 255

/** Reads five fields, or six with seconds first. Throws CronError. */
export function parseCron(text: string): Cron {
  if (text.length > mostCharacters) throw new CronError(`is longer than ${mostCharacters} characters`)
  const fields = text.trim().split(/\s+/)
  if (fields.length !== 5 && fields.length !== 6)
    throw new CronError(
      `must have five fields, or six with seconds first, and has ${text.trim() === '' ? 0 : fields.length}`,
    )
  if (fields.length === 5) fields.unshift('0')
  const [second, minute, hour, monthDay, month, weekday] = fields as [string, string, string, string, string, string]
  return {
    seconds: numbersOf(second, seconds),
    minutes: numbersOf(minute, minutes),
    hours: numbersOf(hour, hours),
    everyRealHour: /[*?/]/.test(hour),
    months: numbersOf(month, months),
    monthDays: isAny(monthDay) ? undefined : monthDaysOf(monthDay),
    weekdays: isAny(weekday) ? undefined : weekdaysOf(weekday),
  }
}

function isAny(text: string): boolean {
  return text === '*' || text === '?'
}

function monthDaysOf(text: string): MonthDays {
  const last = /^L(?:-(\d{1,2}))?$/i
  const parts = text.split(',')
  const fromLast = parts.flatMap((part) => {
    const match = last.exec(part)
    if (match === null) return []
    const before = Number(match[1] ?? 0)
    if (before > 30) throw new CronError(`has ${JSON.stringify(part)} as ${monthDays.name}: no month has so many days`)
    return [before]
  })
  const others = parts.filter((part) => !last.test(part))
  return { days: others.length > 0 ? numbersOf(others.join(','), monthDays) : [], fromLast }
}

function weekdaysOf(text: string): Weekdays {
  const parts = text.split(',')
  const last = parts
    .filter((part) => part.length > 1 && /L$/i.test(part))
    .map((part) => numberOf(part.slice(0, -1), weekdays) % 7)
  // L alone is the last day of the week.
  const others = parts
    .filter((part) => part.length === 1 || !/L$/i.test(part))
    .map((part) => (/^L$/i.test(part) ? '6' : part))
  const days = others.length > 0 ? numbersOf(others.join(','), weekdays).map((day) => day % 7) : []
  return { days: sorted(days), last }
}

function numbersOf(text: string, field: Field): number[] {
  return sorted(text.split(',').flatMap((part) => rangeOf(part, field)))
}

function rangeOf(part: string, field: Field): number[] {
  const [range = '', stepText, ...more] = part.split('/')
  if (more.length > 0) throw unknown(part, field)
  const step = stepText === undefined ? 1 : wholeNumber(stepText, part, field)
  if (step < 1 || step > field.max)
    throw new CronError(`has a step in ${JSON.stringify(part)} as ${field.name} that is not from 1 to ${field.max}`)
  const [from, to] = boundsOf(range, part, stepText !== undefined, field)
  if (from > to) throw new CronError(`has ${JSON.stringify(part)} as ${field.name}, which ends before it begins`)
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)
}

/** `5/15` goes on to the end, as `5-59/15` does. */
function boundsOf(range: string, part: string, hasStep: boolean, field: Field): [number, number] {
  const last = field === weekdays ? 6 : field.max
  if (isAny(range)) return [field.min, last]
  const [from = '', to, ...more] = range.split('-')
  if (more.length > 0) throw unknown(part, field)
  const first = numberOf(from, field)
  if (to !== undefined) return [first, lastOf(first, numberOf(to, field), field)]
  return [first, hasStep ? last : first]
}

/** A range of weekdays that ends on Sunday goes on to 7: `SAT-SUN` is `6-7`. */
function lastOf(first: number, last: number, field: Field): number {
  return field === weekdays && last === 0 && first > 0 ? 7 : last
}

function numberOf(text: string, field: Field): number {
  const named = field.names?.indexOf(text.toUpperCase()) ?? -1
  const number = named < 0 ? wholeNumber(text, text, field) : named + field.min
  if (number < field.min || number > field.max)
    throw new CronError(`has ${JSON.stringify(text)} as ${field.name}, which is not from ${field.min} to ${field.max}`)
  return number
}

function wholeNumber(text: string, part: string, field: Field): number {
  if (!/^\d{1,4}$/.test(text)) throw unknown(part, field)
  return Number(text)
}

function unknown(part: string, field: Field): CronError {
  return new CronError(`has ${JSON.stringify(part)} as ${field.name}, which is not understood`)
}

function sorted(numbers: number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b)
}
