import type { ExecutionLog } from '@automation/client'
import { InvalidArgumentError } from 'commander'

const levels = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const

/** Which entries of a log are wanted. */
export interface LogFilter {
  /** This level and those above it. */
  level?: string
  grep?: RegExp
  /** RFC 3339. */
  since?: string
}

export function isWanted({ timestamp, level, message }: ExecutionLog, filter: LogFilter): boolean {
  return (
    (filter.level === undefined || levelsFrom(filter.level).includes(level)) &&
    (filter.since === undefined || Date.parse(timestamp) >= Date.parse(filter.since)) &&
    (filter.grep === undefined || filter.grep.test(message))
  )
}

/** A level and those above it. */
export function levelsFrom(level: string): ExecutionLog['level'][] {
  return levels.slice(levels.findIndex((one) => one === level))
}

/** The level that an option names, in any case; `warn` is WARNING. */
export function levelOf(text: string): string {
  const level = levels.find((one) => one.startsWith(text.toUpperCase()))
  if (level === undefined || text === '') throw new InvalidArgumentError(`A level is one of ${levels.join(', ')}.`)
  return level
}

export function regularExpression(text: string): RegExp {
  try {
    return new RegExp(text, 'u')
  } catch (error) {
    throw new InvalidArgumentError(`It is no regular expression: ${(error as Error).message}`)
  }
}
