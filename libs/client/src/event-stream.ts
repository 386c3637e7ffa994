import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { ApiError, ConnectionError } from './errors.ts'
import { pause, pauseMs, reasonOf } from './retries.ts'

/** A server-sent event; its data is read as JSON. */
export interface StreamEvent<T = unknown> {
  /** For going on behind it. */
  id?: string
  event: string
  data: T
}

export interface EventStreamOptions {
  signal?: AbortSignal
  /** Goes on behind this event. */
  lastEventId?: string
}

/** Opens the stream, behind the event of this id. */
type Open = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>

/** The service sends a comment every 15 s; a connection that is silent for longer than this is dead. */
const silentMs = 45_000
/** A service that is away for longer than this, in attempts with growing pauses, is given up: about two minutes. */
const mostFailures = 20

/**
 * The events of a stream. Where it is cut, it is opened again behind the last event that came; it ends behind an event
 * `end`. Rejects with ApiError where the service refuses it, ConnectionError where it stays away, and with the
 * signal's reason.
 */
export async function* eventStream(open: Open, options: EventStreamOptions = {}): AsyncGenerator<StreamEvent> {
  const { signal } = options
  let { lastEventId } = options
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const event of connection(open, lastEventId, signal)) {
        failures = 0
        lastEventId = event.id ?? lastEventId
        yield event
        if (event.event === 'end') return
      }
    } catch (error) {
      if (signal?.aborted) throw reasonOf(signal)
      if (failures >= mostFailures || !isPassing(error)) throw error
    }
    const cut = new ConnectionError('The stream was cut')
    await pause(pauseMs(cut, failures + 1, Math.random()) ?? 0, signal)
  }
}

const isPassing = (error: unknown) =>
  error instanceof ConnectionError || (error instanceof ApiError && (error.status === 429 || error.status >= 502))

/** The events of one connection, until it ends. */
async function* connection(
  open: Open,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent> {
  const left = new AbortController()
  const response = await open(lastEventId, signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]))
  const arrived: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => arrived.push(event) })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const { done, value } = await withinMs(silentMs, reader.read())
      if (done) return
      parser.feed(value)
      for (const { id, event = 'message', data } of arrived.splice(0)) yield { id, event, data: JSON.parse(data) }
    }
  } finally {
    left.abort()
  }
}

/** Rejects with ConnectionError where a read fails or takes longer than this. */
async function withinMs<T>(ms: number, reading: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectionError(`The stream was silent for ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([reading, silence])
  } catch (error) {
    throw error instanceof ConnectionError ? error : new ConnectionError('The stream was cut', { cause: error })
  } finally {
    clearTimeout(timer)
  }
}
