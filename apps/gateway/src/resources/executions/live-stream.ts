import {
  ExecutionService,
  type ExecutionUpdate,
  type WatchExecutionResponse,
} from '@automation/contract/execution/v1/execution'
import { asFailure, invalid } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { headerText } from '../../http/caller.ts'
import { executionId } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { samples } from '../../rest/samples.ts'
import { liveOperation, opened, writtenOnce, type LiveStreams } from '../../streams/live-streams.ts'
import { presentLogEntry, presentStatus, presentTimelineEvent } from './record.ts'

const DESCRIPTION = `Server-sent events: \`status\` (a timeline event), \`log\` (a log entry), and last \`end\` with the terminal
status, after which the stream closes; the log comes before the terminal status. Without \`end\` the stream is to be
opened again with the id of its last event, and with a new access token when that has expired. A comment line every 15 s.`

/** One event of the stream. */
const streamEvent = z
  .object({
    id: z.string().openapi({ description: 'For Last-Event-ID' }),
    event: z.enum(['status', 'log', 'end']),
    data: z.string().openapi({ description: 'JSON: a timeline event, a log entry, or the terminal status' }),
  })
  .openapi('ExecutionEvent', {
    example: {
      id: 'bc749759.2.0.0',
      event: 'status',
      data: JSON.stringify({ status: 'RUNNING', timestamp: samples.at }),
    },
  })

/** The live stream of an execution. */
export function liveStreamRoutes(api: RestApi, neighbours: Neighbours, streams: LiveStreams): void {
  // A connection of its own: much output of one run must hold up no other call.
  const executions = neighbours.client(ExecutionService, 'streams')

  api.add(
    {
      ...liveOperation(DESCRIPTION, streamEvent),
      path: '/executions/{id}/events',
      summary: 'Follow an execution: its status and its log as they come',
      parameters: { id: executionId },
    },
    async (call) => {
      const request = { executionId: call.params['id'], after: headerText(call.exchange, 'last-event-id') ?? '' }
      return streams.answer(call, {
        open: async (context) => (await opened(executions.watchExecution(request, context)).catch(refuse)).rest,
        present: presentUpdates,
      })
    },
  )
}

function refuse(error: unknown): never {
  if (asFailure(error).code !== 'invalid_position') throw error
  throw invalid('/Last-Event-ID', 'Last-Event-ID is not the id of an event of this execution')
}

const presentUpdates = writtenOnce(({ updates }: WatchExecutionResponse) => updates.map(presentUpdate).join(''))

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
