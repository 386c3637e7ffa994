import type { Timestamp } from '@bufbuild/protobuf/wkt'
import { z } from '@hono/zod-openapi'

const MOMENT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?)?(?:([Zz])|([+\- ])(\d\d):?(\d\d))?$/

interface Moment {
  seconds: bigint
  nanos: number
}

/**
 * An RFC 3339 time; without an offset it is read as UTC, without a time of day as midnight. A space stands for the `+`
 * that it was before the query was decoded. Undefined when it is none.
 */
export function parseMoment(text: string): Moment | undefined {
  const match = MOMENT.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', , sign, offsetHour, offsetMinute] =
    match
  const parts = [year, month, day, hour, minute, second].map(Number) as [number, number, number, number, number, number]
  const utc = new Date(0)
  utc.setUTCFullYear(parts[0], parts[1] - 1, parts[2])
  // A leap second is the first of the next minute.
  utc.setUTCHours(parts[3], parts[4], Math.min(parts[5], 59))
  const isReal =
    utc.getUTCMonth() === parts[1] - 1 &&
    utc.getUTCDate() === parts[2] &&
    parts[3] < 24 &&
    parts[4] < 60 &&
    parts[5] <= 60
  if (!isReal || Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) return undefined
  const offset = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === '-' ? -60 : 60)
  const leap = parts[5] === 60 ? 1 : 0
  return { seconds: BigInt(utc.getTime() / 1000 + leap - offset), nanos: Number(fraction.padEnd(9, '0')) }
}

/** A bound of a list in time; an empty value is none. */
export const time = () =>
  z
    .string()
    .optional()
    .transform((value, check) => {
      if (value === undefined || value === '') return undefined
      const moment = parseMoment(value)
      if (moment !== undefined) return moment
      check.addIssue({ code: 'custom', message: 'must be a time such as 2026-01-31T12:00:00Z' })
      return z.NEVER
    })
    .openapi({ type: 'string', format: 'date-time' })

/**
 * RFC 3339 in UTC with milliseconds, with microseconds where there are any. The contract can't say that a message has a
 * time; what is shown by this always has.
 */
export function presentTime(time: Timestamp | undefined): string {
  if (time === undefined) throw new Error('A message came without a time that it always has')
  return timeText(
    Number(time.seconds) * 1000 + Math.floor(time.nanos / 1_000_000),
    Math.floor(time.nanos / 1000) % 1000,
  )
}

/** The same for microseconds since the Unix epoch; always with microseconds. */
export function presentMicros(timeUs: bigint): string {
  const text = new Date(Number(timeUs / 1000n)).toISOString()
  return `${text.slice(0, -1)}${String(timeUs % 1000n).padStart(3, '0')}Z`
}

function timeText(ms: number, micros: number): string {
  const text = new Date(ms).toISOString()
  return micros === 0 ? text : `${text.slice(0, -1)}${String(micros).padStart(3, '0')}Z`
}
