import { asFailure, Failure } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import type { GatewayConfig } from '../config.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Call, Reply } from '../rest/operation.ts'
import { EventStream } from './event-stream.ts'
import type { OpenStreams, StreamSlot } from './open-streams.ts'

/** A client that lost its connection comes again after this time. */
const RETRY_MS = 1000

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Proxies that keep answers back are told not to.
  'X-Accel-Buffering': 'no',
}

/** What the document tells of an operation that answers with a live stream of such events. */
export function liveOperation<S extends z.ZodType>(description: string, schema: S) {
  return {
    method: 'get' as const,
    scope: 'read' as const,
    tag: 'Executions',
    headers: z.object({
      'Last-Event-ID': z.string().optional().openapi({ description: 'Go on behind the event of this id' }),
    }),
    success: {
      status: 200 as const,
      description,
      schema,
      mediaType: 'text/event-stream',
      headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
    },
    refusals: { 400: ['invalid_input'], 429: ['too_many_streams'] },
  }
}

interface LiveStreamsDependencies {
  config: GatewayConfig
  streams: OpenStreams
  report: (failure: Failure, exchange: Exchange) => void
}

/** Where the events of a live stream come from. */
interface LiveSource<M> {
  /** The messages, as `opened` gives them. */
  open(context: CallContext): Promise<AsyncIterator<M>>
  /** Server-sent events, or nothing. */
  present(message: M): Uint8Array
}

/** Answers with live streams: server-sent events that end with their source, with the access token and with the gateway. */
export class LiveStreams {
  readonly #config: GatewayConfig
  readonly #streams: OpenStreams
  readonly #report: LiveStreamsDependencies['report']

  constructor({ config, streams, report }: LiveStreamsDependencies) {
    this.#config = config
    this.#streams = streams
    this.#report = report
  }

  /** Failures: too_many_streams, and those of the source before its first message. */
  async answer<M>(call: Call<unknown, unknown>, source: LiveSource<M>): Promise<Reply> {
    const { exchange, team } = call
    const slot = this.#streams.take(team)
    const watch = new AbortController()
    let messages: AsyncIterator<M> | undefined
    const leave = () => {
      watch.abort()
      // What stands at a message is told of no abort.
      messages?.return?.().catch(() => undefined)
      // The end of an answer may wait for a slow reader: it counts until then.
      if (exchange.outgoing.destroyed || !exchange.outgoing.headersSent) slot.release()
      else exchange.outgoing.once('close', slot.release)
    }
    try {
      messages = await this.#open(call, source, watch.signal)
      if (exchange.incoming.method !== 'HEAD')
        return { stream: this.#body(call, events(messages, source), slot, leave), headers: HEADERS }
      leave()
      return { stream: new ReadableStream(), headers: HEADERS }
    } catch (error) {
      leave()
      throw error
    }
  }

  #body(call: Call<unknown, unknown>, parts: AsyncIterator<Uint8Array>, slot: StreamSlot, over: () => void) {
    const { exchange, tokenEndsMs } = call
    const stream = new EventStream(parts, {
      commentEveryMs: this.#config.streamCommentMs,
      endsAtMs: tokenEndsMs,
      endsBecause: 'the access token has expired, come again with a new one',
      failed: (error) => this.#failed(error, exchange),
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

  async #open<M>(call: Call<unknown, unknown>, source: LiveSource<M>, left: AbortSignal): Promise<AsyncIterator<M>> {
    const { exchange, context } = call
    const { principal, requestId, traceparent } = context
    const slow = new AbortController()
    const signal = AbortSignal.any([left, exchange.signal, slow.signal])
    const own: CallContext = { principal, requestId, traceparent, signal }
    const late = new Failure('deadline_exceeded', 'deadline_exceeded', 'The operation took too long')
    const timer = setTimeout(() => slow.abort(late), this.#config.callTimeoutMs)
    try {
      return await source.open(own)
    } finally {
      clearTimeout(timer)
    }
  }

  #failed(error: unknown, exchange: Exchange): string {
    const failure = asFailure(error)
    this.#report(failure, exchange)
    return failure.message
  }
}

/** What a service sends, once its first message has said that it has it, and that message. */
export async function opened<M>(messages: AsyncIterable<M>): Promise<{ first: M | undefined; rest: AsyncIterator<M> }> {
  const rest = messages[Symbol.asyncIterator]()
  const { value, done } = await rest.next()
  return { first: done === true ? undefined : value, rest }
}

const utf8 = new TextEncoder()

/**
 * How a message becomes bytes, by `textOf`. In one process the readers of a thing are given the same message, which is
 * written once.
 */
export function writtenOnce<M extends object>(textOf: (message: M) => string): (message: M) => Uint8Array {
  const written = new WeakMap<M, Uint8Array>()
  return (message) => {
    let bytes = written.get(message)
    if (bytes === undefined) {
      bytes = utf8.encode(textOf(message))
      written.set(message, bytes)
    }
    return bytes
  }
}

async function* events<M>(
  messages: AsyncIterator<M>,
  { present }: LiveSource<M>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield utf8.encode(`retry: ${RETRY_MS}\n\n`)
  for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
    const bytes = present(next.value)
    if (bytes.length > 0) yield bytes
  }
}
