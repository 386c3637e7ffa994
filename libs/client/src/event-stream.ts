import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { ConnectionError } from './errors.ts'
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

/** Opens the stream, behind the event of this id. Until it was open once, its failure is the end. */
type Open = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>

/** The service sends a comment every 15 s; a connection that is silent for longer than this is dead. */
const silentMs = 45_000
/** Attempts in a row that bring nothing, not even a comment, of a stream that was open: about two minutes. */
const mostFailures = 20

/**
 * The events of a stream. Where it is cut, it is opened again behind the last event that came; it ends behind an event
 * `end`. Rejects with ApiError where the service refuses it, ConnectionError where it stays away, and with the
 * signal's reason.
 */
export async function* eventStream(open: Open, options: EventStreamOptions = {}): AsyncGenerator<StreamEvent> {
  const { signal } = options
  let { lastEventId } = options
  let most = 0
  let failures = 0
  const heard = {
    open: () => void (most = mostFailures),
    bytes: () => void (failures = 0),
  }
  for (;;) {
    let cut: unknown = new ConnectionError('The stream was cut')
    try {
      for await (const event of connection(open, lastEventId, signal, heard)) {
        lastEventId = event.id ?? lastEventId
        yield event
        if (event.event === 'end') return
      }
    } catch (error) {
      if (signal?.aborted) throw reasonOf(signal)
      cut = error
    }
    failures += 1
    const waitMs = failures > most ? undefined : pauseMs(cut, failures, Math.random())
    if (waitMs === undefined) throw cut
    await pause(waitMs, signal)
  }
}

/** The events of one connection, until it ends. `heard` is told that it is open, and of all that comes. */
async function* connection(
  open: Open,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
  heard: { open(): void; bytes(): void },
): AsyncGenerator<StreamEvent> {
  const left = new AbortController()
  const response = await open(lastEventId, signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]))
  heard.open()
  const arrived: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => arrived.push(event) })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const { done, value } = await withinMs(silentMs, reader.read())
      if (done) return
      heard.bytes()
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
