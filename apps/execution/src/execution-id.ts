import { createdAtMs, days } from '@automation/database'
import { v7 } from 'uuid'
import { isUuid } from '@automation/contract/forms'

export { createdAtMs, lowestIdAt } from '@automation/database'

/** Whether a text is an id as rows show it. What is known by ids is known by these letters, so others name nothing. */
export function isShownId(text: string): boolean {
  return isUuid(text) && text === text.toLowerCase()
}

/**
 * A new id: a UUIDv7, so ids sort by the time of their making and their rows' partition follows from them. Those of this
 * moment sort as they are made, also within one millisecond; those of a given time do not.
 */
export function newExecutionId(atMs?: number): string {
  return atMs === undefined ? v7() : v7({ msecs: atMs })
}

/** The day of an id in UTC, as partitions are named: `20261120`. */
export function dayOf(id: string): string {
  return dayName(days.at(createdAtMs(id)))
}

/** The name of the nth day since 1970: `20261120`. */
export function dayName(day: number): string {
  let name = names.get(day)
  if (name === undefined) {
    if (names.size > 1000) names.clear()
    name = days.name(day)
    names.set(day, name)
  }
  return name
}

const names = new Map<number, string>()
