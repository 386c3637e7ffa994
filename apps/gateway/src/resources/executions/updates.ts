import type { ExecutionUpdate, WatchExecutionResponse } from '@automation/contract/execution/v1/execution'
import { presentLogEntry, presentStatus, presentTimelineEvent } from './record.ts'

const utf8 = new TextEncoder()
const presented = new WeakMap<WatchExecutionResponse, Uint8Array>()

/** Updates as server-sent events. In one process the readers of a run are given the same message: it is written once. */
export function presentUpdates(message: WatchExecutionResponse): Uint8Array {
  let bytes = presented.get(message)
  if (bytes === undefined) {
    bytes = utf8.encode(message.updates.map(presentUpdate).join(''))
    presented.set(message, bytes)
  }
  return bytes
}

/**
 * An update as a server-sent event. Its data is one line, as JSON escapes what could end a line; its id is made by
 * execution of letters, digits and dots.
 */
function presentUpdate({ position, update }: ExecutionUpdate): string {
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

function eventText(id: string, event: string, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
