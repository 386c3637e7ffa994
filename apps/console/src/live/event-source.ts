import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { backoffMs } from '../rules/backoff.ts'

/** How a stream stands. `ended`: the session has ended, and nothing is tried until it is asked for again. */
export type StreamState =
  | { is: 'connecting' }
  | { is: 'live' }
  | { is: 'lost'; sinceMs: number; why: string }
  | { is: 'ended' }

interface EventSourceOptions {
  onEvent: (event: EventSourceMessage) => void
  onState: (state: StreamState) => void
  /** Events may be missing: the server does not know the position any more, or there never was one. */
  onGap: () => void
  /** After this event nothing more comes. */
  isLast?: (event: EventSourceMessage) => boolean
}

/** What of a stream that the server has ended is told as lost only after so long, as it is opened again at once. */
const UNSEEN_MS = 1500
/** The server sends a comment each 15 s: where nothing has come for so long, the connection is gone without a word. */
const SILENT_MS = 40_000
/** Who asks to open anew so soon after another one, or after the server was heard, has what is asked for. */
const ANEW_MS = 1000

/**
 * Server-sent events by `fetch`: goes on behind the last event after a cut, waits longer each time where that fails, and
 * stops where the session has ended.
 */
export class ReconnectingEvents {
  readonly #address: string
  readonly #options: EventSourceOptions
  #position: string | undefined
  #wasLive = false
  #attempt = 0
  #lostSinceMs: number | undefined
  /** Ends the pause before the next attempt, or a stream that is silent. */
  #timer: ReturnType<typeof setTimeout> | undefined
  #heardMs = 0
  #control: AbortController | undefined

  constructor(address: string, options: EventSourceOptions) {
    this.#address = address
    this.#options = options
  }

  /** Opens the stream, or tries at once where it waits to try again. */
  open(): void {
    if (this.#control !== undefined) return
    clearTimeout(this.#timer)
    this.#attempt = 0
    void this.#run()
  }

  /** Gives up the connection that it has and opens another, as after a change of networks. */
  reopen(): void {
    if (this.#control !== undefined) {
      if (Date.now() - this.#heardMs < ANEW_MS) return
      this.close()
    }
    this.open()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#control?.abort()
    this.#control = undefined
  }

  async #run(): Promise<void> {
    const control = new AbortController()
    this.#control = control
    this.#heard(control)
    let why: string
    let waitMs = 0
    try {
      const response = await fetch(this.#address, {
        headers: { 'X-Console': '1', ...(this.#position !== undefined && { 'Last-Event-ID': this.#position }) },
        signal: control.signal,
        cache: 'no-store',
      })
      if (response.status === 401) return this.#end(control)
      if (response.status === 400 && this.#position !== undefined) this.#position = undefined
      if (!response.ok || response.body === null) {
        why = await reasonOf(response)
        waitMs = 1000 * Number(response.headers.get('Retry-After') ?? 0)
      } else {
        this.#live()
        if (await this.#read(response.body, control)) return this.#finish(control)
        why = 'The stream was cut'
      }
    } catch (error) {
      if (control.signal.aborted) why = `Nothing has come for ${SILENT_MS / 1000} s`
      else why = error instanceof TypeError ? "The service can't be reached" : String(error)
    }
    if (this.#control !== control) return
    clearTimeout(this.#timer)
    this.#control = undefined
    this.#again(why, waitMs)
  }

  #live(): void {
    if (this.#wasLive && this.#position === undefined) this.#options.onGap()
    this.#wasLive = true
    this.#attempt = 0
    this.#lostSinceMs = undefined
    this.#options.onState({ is: 'live' })
  }

  #heard(control: AbortController): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => control.abort(), SILENT_MS)
    this.#heardMs = Date.now()
  }

  async #read(body: ReadableStream<Uint8Array<ArrayBuffer>>, control: AbortController): Promise<boolean> {
    const events: EventSourceMessage[] = []
    const parser = createParser({ onEvent: (event) => events.push(event) })
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done || this.#control !== control) return false
      this.#heard(control)
      parser.feed(value)
      for (const event of events.splice(0)) {
        if (event.id !== undefined) this.#position = event.id
        this.#options.onEvent(event)
        if (this.#options.isLast?.(event) === true) return true
      }
    }
  }

  #finish(control: AbortController): void {
    clearTimeout(this.#timer)
    control.abort()
    this.#options.onState({ is: 'live' })
  }

  #end(control: AbortController): void {
    clearTimeout(this.#timer)
    control.abort()
    this.#control = undefined
    this.#options.onState({ is: 'ended' })
  }

  #again(why: string, waitMs: number): void {
    const nowMs = Date.now()
    this.#lostSinceMs ??= nowMs
    const sinceMs = this.#lostSinceMs
    if (this.#attempt > 0 || waitMs > UNSEEN_MS) this.#options.onState({ is: 'lost', sinceMs, why })
    const pauseMs = Math.max(waitMs, backoffMs(this.#attempt, Math.random()))
    this.#attempt += 1
    this.#timer = setTimeout(() => void this.#run(), pauseMs)
  }
}

async function reasonOf(response: Response): Promise<string> {
  const said = `The service answered ${response.status}`
  if (!(response.headers.get('Content-Type') ?? '').includes('json')) return said
  try {
    const { detail } = (await response.json()) as { detail?: unknown }
    return typeof detail === 'string' ? detail : said
  } catch (error) {
    return error instanceof SyntaxError ? said : String(error)
  }
}
