import {
  ExecutionService,
  type ExecutionUpdate,
  type WatchExecutionResponse,
} from '@automation/contract/execution/v1/execution'
import { asFailure, Failure, invalid } from '@automation/errors'
import type { CallContext, Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import type { GatewayConfig } from '../../config.ts'
import { headerText } from '../../http/caller.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Call, Reply } from '../../rest/operation.ts'
import { executionId } from '../../rest/path-parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { samples } from '../../rest/samples.ts'
import { EventStream } from '../../streams/event-stream.ts'
import type { OpenStreams, StreamSlot } from '../../streams/open-streams.ts'
import { presentLogEntry, presentStatus, presentTimelineEvent } from './record.ts'

/** A client that lost its connection comes again after this time. */
const RETRY_MS = 1000

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

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Proxies that keep answers back are told not to.
  'X-Accel-Buffering': 'no',
}

export interface LiveStreamDependencies {
  neighbours: Neighbours
  config: GatewayConfig
  streams: OpenStreams
  report: (failure: Failure, exchange: Exchange) => void
}

/** The live stream of an execution. */
export function liveStreamRoutes(api: RestApi, { neighbours, config, streams, report }: LiveStreamDependencies): void {
  // A connection of its own: much output of one run must hold up no other call.
  const executions = neighbours.client(ExecutionService, 'streams')

  api.add(
    {
      method: 'get',
      path: '/executions/{id}/events',
      tag: 'Executions',
      summary: 'Follow an execution: its status and its log as they come',
      parameters: { id: executionId },
      headers: z.object({
        'Last-Event-ID': z.string().optional().openapi({ description: 'Go on behind the event of this id' }),
      }),
      success: {
        status: 200,
        description: DESCRIPTION,
        schema: streamEvent,
        mediaType: 'text/event-stream',
        headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
      },
      refusals: { 400: ['invalid_input'], 429: ['too_many_streams'] },
    },
    follow,
  )

  async function follow(call: Call<unknown, unknown>): Promise<Reply> {
    const { exchange, team } = call
    const slot = streams.take(team)
    const watch = new AbortController()
    let updates: Updates | undefined
    const leave = () => {
      watch.abort()
      // What stands at a message is told of no abort.
      updates?.return?.().catch(() => undefined)
      // The end of an answer may wait for a slow reader: it counts until then.
      if (exchange.outgoing.destroyed || !exchange.outgoing.headersSent) slot.release()
      else exchange.outgoing.once('close', slot.release)
    }
    try {
      updates = await open(call, watch.signal)
      if (exchange.incoming.method !== 'HEAD') return { stream: bodyOf(call, updates, slot, leave), headers: HEADERS }
      leave()
      return { stream: new ReadableStream(), headers: HEADERS }
    } catch (error) {
      leave()
      throw error
    }
  }

  function bodyOf(call: Call<unknown, unknown>, updates: Updates, slot: StreamSlot, over: () => void) {
    const { exchange, tokenEndsMs } = call
    const stream = new EventStream(events(updates), {
      commentEveryMs: config.streamCommentMs,
      endsAtMs: tokenEndsMs,
      endsBecause: 'the access token has expired, come again with a new one',
      failed: (error) => failed(error, exchange),
      cut: () => exchange.outgoing.destroy(),
      over,
    })
    slot.onStop(() => stream.end('the service is stopping, come again'))
    // Also when the client went before the answer began, so that nobody reads it.
    exchange.signal.addEventListener('abort', () => stream.close(), { once: true })
    if (exchange.signal.aborted) stream.close()
    // A body that nobody wants must not run into the time that a request may take to arrive.
    exchange.incoming.resume()
    return stream.body()
  }

  /** The updates, once execution has said that it has them. */
  async function open(call: Call<unknown, unknown>, left: AbortSignal): Promise<Updates> {
    const { exchange, params, context } = call
    const { principal, requestId, traceparent } = context
    const slow = new AbortController()
    const signal = AbortSignal.any([left, exchange.signal, slow.signal])
    const own: CallContext = { principal, requestId, traceparent, signal }
    const late = new Failure('deadline_exceeded', 'deadline_exceeded', 'The operation took too long')
    const timer = setTimeout(() => slow.abort(late), config.callTimeoutMs)
    try {
      const request = { executionId: params['id'], after: headerText(exchange, 'last-event-id') ?? '' }
      const updates = executions.watchExecution(request, own)[Symbol.asyncIterator]()
      await updates.next()
      return updates
    } catch (error) {
      if (asFailure(error).code !== 'invalid_position') throw error
      throw invalid('/Last-Event-ID', 'Last-Event-ID is not the id of an event of this execution')
    } finally {
      clearTimeout(timer)
    }
  }

  function failed(error: unknown, exchange: Exchange): string {
    const failure = asFailure(error)
    report(failure, exchange)
    return failure.message
  }
}

type Updates = AsyncIterator<WatchExecutionResponse>

async function* events(updates: Updates): AsyncGenerator<Uint8Array, void, undefined> {
  yield new TextEncoder().encode(`retry: ${RETRY_MS}\n\n`)
  for (let next = await updates.next(); next.done !== true; next = await updates.next())
    if (next.value.updates.length > 0) yield presentUpdates(next.value)
}

const utf8 = new TextEncoder()
const presented = new WeakMap<WatchExecutionResponse, Uint8Array>()

/** Updates as server-sent events. In one process the readers of a run are given the same message: it is written once. */
function presentUpdates(message: WatchExecutionResponse): Uint8Array {
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
