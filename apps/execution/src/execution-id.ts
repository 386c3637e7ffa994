import { v7 } from 'uuid'

const dayMs = 86_400_000
const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A new id: a UUIDv7, so ids sort by the time of their making and their rows' partition follows from them. */
export function newExecutionId(): string {
  return v7()
}

/** Any UUID in lower case; only such texts may go into statements. */
export function isUuid(text: string): boolean {
  return pattern.test(text)
}

/** Unix time in ms that an id was made at. */
export function createdAtMs(id: string): number {
  return parseInt(id.slice(0, 8), 16) * 65_536 + parseInt(id.slice(9, 13), 16)
}

/** The day of an id in UTC, as partitions are named: `20261120`. */
export function dayOf(id: string): string {
  return dayName(Math.floor(createdAtMs(id) / dayMs))
}

/** The name of the nth day since 1970: `20261120`. */
export function dayName(day: number): string {
  let name = names.get(day)
  if (name === undefined) {
    if (names.size > 1000) names.clear()
    const date = new Date(day * dayMs)
    name = Number.isNaN(date.getTime()) ? 'never' : date.toISOString().slice(0, 10).replaceAll('-', '')
    names.set(day, name)
  }
  return name
}

const names = new Map<number, string>()

/** The smallest id that can be made at this time (Unix ms): a bound for ranges of ids. */
export function lowestIdAt(timeMs: number): string {
  const hex = Math.min(Math.max(Math.ceil(timeMs), 0), 0xffff_ffff_ffff)
    .toString(16)
    .padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
