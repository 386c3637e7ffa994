import type { Timestamp } from '@bufbuild/protobuf/wkt'

/** RFC 3339 in UTC with milliseconds, with microseconds where there are any. Undefined stays undefined. */
export function presentTime(time: Timestamp): string
export function presentTime(time: Timestamp | undefined): string | undefined
export function presentTime(time: Timestamp | undefined): string | undefined {
  if (time === undefined) return undefined
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
