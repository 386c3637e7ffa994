import { LogLevel, type LogEntry } from '@automation/contract/execution/v1/execution'
import { presentMicros } from '../../rest/time.ts'

/** A line of an execution's log as JSON. */
export function presentLogEntry(entry: LogEntry): Record<string, unknown> {
  return {
    timestamp: presentMicros(entry.timeUs),
    level: LogLevel[entry.level],
    message: entry.message,
  }
}
