import { TeamEventService, type WatchTeamResponse } from '@automation/contract/execution/v1/team_event'
import { asFailure, invalid } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { headerText } from '../../http/caller.ts'
import { jsonText } from '../../http/json.ts'
import { processIdFilter } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'
import { knownByNew } from '../../rest/upgrading.ts'
import { documentedHeaders, opened, writtenOnce, type LiveStreams } from '../../streams/live-streams.ts'
import { anyOf } from '../executions/filters.ts'
import { presentExecution } from '../executions/record.ts'

const TYPES = ['execution', 'install', 'sandbox', 'schedule', 'process'] as const
/** Those that are sent. */
const SENT: readonly string[] = ['execution']

const DESCRIPTION = `Server-sent events, without an end. \`execution\`: a status of an execution has changed; its data is
\`{ id, type, at, … }\` with the execution as lists show it, as it was then. A start by a schedule is an execution, too.
\`gap\`: events are missing here, as they were more than a slow reader takes or lie too far back; its data is
\`{ missed, since }\`: at least how many (0 where it is not known), and since when, so that the reader reads lists again.
Events of other types are not sent yet. A stream begins with what happens from then on; one that was cut is opened again
with the id of the last event, behind which it goes on (an event may come again), and with a new access token when that
has expired. A comment line every 15 s.`

const streamEvent = z
  .object({
    id: z.string().optional().openapi({ description: 'For Last-Event-ID' }),
    event: z.enum([...TYPES, 'gap']),
    data: z.string().openapi({ description: 'JSON' }),
  })
  .openapi('TeamEvent', {
    example: {
      id: `${samples.executionId}.2.3.1`,
      event: 'execution',
      data: JSON.stringify({ id: samples.executionId, type: 'execution', at: samples.at, status: 'RUNNING' }),
    },
  })

/** The live stream of a team. */
export function eventRoutes(api: RestApi, neighbours: Neighbours, streams: LiveStreams): void {
  const teamEvents = neighbours.client(TeamEventService, 'streams')

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/events',
      tag: 'Executions',
      summary: 'Follow all that happens in a team, as it happens',
      query: z.object({
        types: anyOf(TYPES).openapi({
          description:
            'Repeated or comma-joined; absent: all. Only `execution` is sent yet: at least that must be asked for',
        }),
        processId: processIdFilter.openapi({ description: 'Only what happens to this process' }),
      }),
      headers: z.object({
        'Last-Event-ID': z.string().optional().openapi({ description: 'Go on behind the event of this id' }),
      }),
      success: {
        status: 200,
        description: DESCRIPTION,
        schema: streamEvent,
        mediaType: 'text/event-stream',
        headers: documentedHeaders,
      },
      refusals: { 400: ['invalid_input'], 429: ['too_many_streams'] },
    },
    async (call) => {
      const { types, processId } = call.query
      const silent = types.filter((type) => !SENT.includes(type))
      if (types.length > 0 && silent.length === types.length)
        throw invalid('/types', `must name execution: events of ${silent.join(', ')} are not sent yet`)
      const request = { after: headerText(call.exchange, 'last-event-id') ?? '', processId }
      return streams.answer(call, {
        open: (context) => knownByNew(opened(teamEvents.watchTeam(request, context))).catch(refuse),
        present,
        remark: silent.length > 0 ? `events of ${silent.join(', ')} are not sent yet` : undefined,
      })
    },
  )
}

function refuse(error: unknown): never {
  if (asFailure(error).code !== 'invalid_position') throw error
  throw invalid('/Last-Event-ID', 'Last-Event-ID is not the id of an event of this stream; leave it out to begin now')
}

const present = writtenOnce(eventText)

function eventText({ position, time, event }: WatchTeamResponse): string {
  const id = position === '' ? '' : `id: ${position}\n`
  if (event.case === 'gap') {
    const { missed, since } = event.value
    return `${id}event: gap\ndata: ${JSON.stringify({ missed, since: presentTime(since) })}\n\n`
  }
  if (event.case !== 'execution') return ''
  const { id: executionId, ...record } = presentExecution(event.value)
  const data = jsonText({ id: executionId, type: 'execution', at: presentTime(time), ...record })
  // Line ends stand between the words of parameters as they were written, and nowhere else.
  return `${id}event: execution\ndata: ${data.replaceAll(/[\r\n]/g, ' ')}\n\n`
}
