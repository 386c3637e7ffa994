import { TeamEventService, type WatchTeamResponse } from '@automation/contract/execution/v1/team_event'
import type { TeamChange } from '@automation/contract/common/v1/change'
import { asFailure, type Failure, invalid } from '@automation/errors'
import type { CallContext, Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { headerText } from '../../http/caller.ts'
import { processIdFilter } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { samples } from '../../rest/samples.ts'
import { liveOperation, opened, type LiveStreams } from '../../streams/live-streams.ts'
import type { Source, TeamChanges } from '../../streams/team-changes.ts'
import { anyOf } from '../executions/filters.ts'
import { none, readPosition, type StreamPosition } from './position.ts'
import { TeamStream } from './team-stream.ts'

const TYPES = ['execution', 'install', 'sandbox', 'schedule', 'process'] as const

/** Which service tells of them, beside execution. */
const sourceOf: Readonly<Partial<Record<string, Source>>> = {
  install: 'catalog',
  process: 'catalog',
  schedule: 'schedule',
  sandbox: 'sandbox',
}

const DESCRIPTION = `Server-sent events, without an end. \`execution\`: a status of an execution has changed; its data is
\`{ id, type, at, … }\` with the execution as lists show it, as it was then. A start by a schedule is an execution, too.
\`install\`, \`sandbox\`, \`schedule\`, \`process\`: one was made, edited or deleted, or has another status; the data is
\`{ id, type, at, change, … }\`, where \`change\` is \`created\`, \`updated\` or \`deleted\`, with the \`status\` of an install or
a sandbox, the \`language\` of an install and the \`processId\` of a schedule or a process. A new version or alias is an update of its process.
\`gap\`: events are missing here, as they were more than a slow reader takes or lie too far back; its data is
\`{ missed, since }\`: at least how many (0 where it is not known), and since when, so that the reader reads lists again.
A stream begins with what happens from then on; one that was cut is opened again
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
      id: `${samples.executionId}.2.3.1~7~2~0~mk2v1x00`,
      event: 'execution',
      data: JSON.stringify({ id: samples.executionId, type: 'execution', at: samples.at, status: 'RUNNING' }),
    },
  })

/** The live stream of a team. */
export function eventRoutes(
  api: RestApi,
  neighbours: Neighbours,
  streams: LiveStreams,
  teamChanges: TeamChanges,
): void {
  const teamEvents = neighbours.client(TeamEventService, 'streams')

  api.add(
    {
      ...liveOperation(DESCRIPTION, streamEvent),
      path: '/events',
      summary: 'Follow all that happens in a team, as it happens',
      query: z.object({
        types: anyOf(TYPES).openapi({ description: 'Repeated or comma-joined; absent: all' }),
        processId: processIdFilter.openapi({
          description: 'Only what happens to this process, its executions and its schedules',
        }),
      }),
    },
    async (call) => {
      const { types, processId } = call.query
      const wanted = new Set<string>(types.length > 0 ? types : TYPES)
      const position = readPosition(headerText(call.exchange, 'last-event-id') ?? '')
      if (position === undefined) throw unknownPosition()
      const wants = (change: TeamChange) =>
        wanted.has(change.type) && (processId === '' || change.processId === processId)
      return streams.answer(call, {
        open: (context) => follow(call.team, { wanted, wants, processId, position }, context),
        present: (bytes: Uint8Array) => bytes,
      })
    },
  )

  async function follow(team: string, asked: Asked, context: CallContext): Promise<AsyncIterator<Uint8Array>> {
    const { wanted, wants, processId, position } = asked
    const { signal } = context
    const ofThem = [...new Set([...wanted].flatMap((type) => sourceOf[type] ?? []))]
    const after = position.execution === none ? '' : (position.execution ?? '')
    const sinceMs = position.sinceMs ?? Date.now()
    const begun: { stream?: TeamStream } = {}
    const followed = { after: position.changes, sinceMs, wake: () => begun.stream?.wake(), context }
    const changes = ofThem.length > 0 ? await teamChanges.follow(team, ofThem, followed) : undefined
    if (changes !== undefined) signal.addEventListener('abort', changes.leave, { once: true })
    if (signal.aborted) changes?.leave()
    const watched = wanted.has('execution') ? await watch({ after, processId }, context) : undefined
    const executions = watched?.rest
    const execution = after || (watched?.first?.position ?? '')
    const gapSinceMs = executions !== undefined && position.execution === none ? sinceMs : undefined
    begun.stream = new TeamStream({ executions, changes, wants, execution, gapSinceMs, signal })
    return begun.stream.events()
  }

  function watch(
    request: { after: string; processId: string },
    context: CallContext,
  ): ReturnType<typeof opened<WatchTeamResponse>> {
    return opened(teamEvents.watchTeam(request, context)).catch((error: unknown) => {
      throw asFailure(error).code === 'invalid_position' ? unknownPosition() : error
    })
  }
}

interface Asked {
  wanted: ReadonlySet<string>
  wants: (change: TeamChange) => boolean
  processId: string
  position: StreamPosition
}

function unknownPosition(): Failure {
  return invalid('/Last-Event-ID', 'Last-Event-ID is not the id of an event of this stream; leave it out to begin now')
}
