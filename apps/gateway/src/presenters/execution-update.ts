import type { ExecutionUpdate } from '@automation/contract/execution/v1/execution'
import { presentStatus, presentTimelineEvent } from './execution.ts'
import { presentLogEntry } from './log-entry.ts'

/**
 * An update as a server-sent event. Its data is one line, as JSON escapes what could end a line; its id is made by
 * execution of letters, digits and dots.
 */
export function presentUpdate({ position, update }: ExecutionUpdate): string {
  switch (update.case) {
    case 'status':
      return eventText(position, 'status', presentTimelineEvent(update.value))
    case 'log':
      return eventText(position, 'log', presentLogEntry(update.value))
    case 'end':
      return eventText(position, 'end', { status: presentStatus(update.value) })
    default:
      return ''
  }
}

function eventText(id: string, event: string, data: Record<string, unknown>): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
