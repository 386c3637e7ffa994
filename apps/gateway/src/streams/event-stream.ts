import { atTokenEnd } from '../auth/token-end.ts'

/** What a stream of server-sent events does beside its events. */
export interface EventStreamOptions {
  /** A comment so often, so that nobody on the way takes the connection for dead. */
  commentEveryMs: number
  /** Unix time in ms of its end at the latest, and why. */
  endsAtMs: number
  endsBecause: string
  /** Why it ends where the events fail. */
  failed: (error: unknown) => string
  /** Cuts the connection: its reader takes nothing any more. */
  cut: () => void
  /** The stream is over, whoever ended it; called once. */
  over: () => void
}

/** How long a reader may take nothing; and after the stop of the gateway. */
const STALL_MS = 60_000
const STOP_MS = 250

const utf8 = new TextEncoder()
const COMMENT = utf8.encode(':\n\n')
const NOTHING = new Uint8Array()

/**
 * Events as the body of an answer: read one by one, and only as fast as the client takes them. It ends with the events,
 * or with a comment that says why, so that the client comes again with the id of the last event.
 */
export class EventStream implements UnderlyingDefaultSource<Uint8Array> {
  readonly #events: AsyncIterator<Uint8Array>
  readonly #options: EventStreamOptions
  readonly #comments: NodeJS.Timeout
  readonly #expiry: NodeJS.Timeout
  #stall: NodeJS.Timeout | undefined
  #asked = false
  #event: Uint8Array | undefined
  #finished = false
  #why: string | undefined
  #commentDue = false
  #wake: (() => void) | undefined
  #isOver = false

  constructor(events: AsyncIterator<Uint8Array>, options: EventStreamOptions) {
    this.#events = events
    this.#options = options
    const { commentEveryMs, endsAtMs, endsBecause } = options
    this.#comments = setInterval(() => {
      this.#commentDue = true
      this.#wake?.()
    }, commentEveryMs)
    this.#expiry = atTokenEnd(endsAtMs, () => this.end(endsBecause))
  }

  body(): ReadableStream<Uint8Array> {
    return new ReadableStream(this, { highWaterMark: 0 })
  }

  /** Ends the stream with a comment. */
  end(why: string): void {
    this.#why ??= why
    if (this.#wake !== undefined) return this.#wake()
    // Its reader is not asking: a slow one is not waited for.
    clearTimeout(this.#stall)
    this.#stall = setTimeout(this.#options.cut, STOP_MS)
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    clearTimeout(this.#stall)
    const bytes = await this.#next()
    if (this.#isOver) return
    if (bytes.length > 0) controller.enqueue(bytes)
    if (this.#why !== undefined || this.#finished) {
      controller.close()
      this.close()
    } else this.#stall = setTimeout(this.#options.cut, STALL_MS)
  }

  cancel(): void {
    this.close()
  }

  /** Nobody reads any more. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#comments)
    clearTimeout(this.#expiry)
    clearTimeout(this.#stall)
    // Not awaited: it may wait for something of its own, and is told by `over` as well.
    this.#events.return?.().catch(() => undefined)
    this.#wake?.()
    this.#options.over()
  }

  async #next(): Promise<Uint8Array> {
    for (;;) {
      if (this.#why !== undefined) return utf8.encode(`: ${this.#why}\n\n`)
      if (this.#isOver || this.#finished) return NOTHING
      if (this.#commentDue) {
        this.#commentDue = false
        return COMMENT
      }
      const event = this.#event
      this.#event = undefined
      if (event !== undefined) return event
      this.#ask()
      await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = undefined
    }
  }

  /** At most one is under way: what is asked for here arrives for whichever call waits then. */
  #ask(): void {
    if (this.#asked) return
    this.#asked = true
    const arrived = (result: IteratorResult<Uint8Array>) => {
      if (result.done === true) this.#finished = true
      else this.#event = result.value
    }
    const failed = (error: unknown) => {
      if (!this.#isOver) this.#why ??= this.#options.failed(error)
    }
    void this.#events
      .next()
      .then(arrived, failed)
      .then(() => {
        this.#asked = false
        this.#wake?.()
      })
  }
}

type UnderlyingDefaultSource<T> = {
  pull(controller: ReadableStreamDefaultController<T>): Promise<void>
  cancel(): void
}
