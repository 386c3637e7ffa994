import { headEndOf } from './call-frames.ts'

/** As many as the child lets be open at once. One that has more breaks its rules: it is not read until fewer are. */
const most = 1000
const few = most / 2
/** What the open calls of one run may hold here together. */
export const mostBytes = 32 * 1024 * 1024
/** So many that a run makes at once are handed on, the others one by one: they take time from everybody. */
const burst = 64
const usualEveryMs = 1
/** Where other teams would wait for it. Who has few open waits for each of them, and takes less by itself. */
const slowEveryMs = 4
const slowFrom = 8
/** A call takes a turn more for each of these: heads are parsed, the rest is only copied. */
const turnOfHeadBytes = 8 * 1024
const turnOfBytes = 128 * 1024

export interface CallsContext {
  /** Its turn has come; `answered` is to follow. With `isTooMuch` the open ones would hold too much: it is refused. */
  handOn(payload: Buffer, isTooMuch: boolean): void
  /** Whether more are to be read. */
  listen(listens: boolean): void
  isAmongOthers(): boolean
}

interface Call {
  payload: Buffer
  isTooMuch: boolean
}

/** The calls of one run, as they came, until they are answered. Those that wait for their turn cost little. */
export class OpenCalls {
  readonly #context: CallsContext
  readonly #waiting: Call[] = []
  #count = 0
  #bytes = 0
  /** How many of those that wait are to be refused. */
  #tooMuch = 0
  #listens = true
  #pause: NodeJS.Timeout | undefined
  /** When the last one was handed on, less what is left of the burst. */
  #turnAt = 0

  constructor(context: CallsContext) {
    this.#context = context
  }

  add(payload: Buffer): void {
    const isTooMuch = this.#bytes + payload.length > mostBytes
    if (isTooMuch) this.#tooMuch += 1
    else this.#bytes += payload.length
    this.#count += 1
    this.#waiting.push({ payload, isTooMuch })
    this.#move()
  }

  /** `bytes`: of its payload; 0 where it was too much. */
  answered(bytes: number): void {
    this.#count -= 1
    this.#bytes -= bytes
    this.#heed()
  }

  /** The run is ending: what waits is not handed on. */
  close(): void {
    clearTimeout(this.#pause)
    this.#waiting.length = 0
    this.#count = this.#tooMuch = 0
    this.#heed()
  }

  #move(): void {
    const isSlow = this.#count > slowFrom && this.#context.isAmongOthers()
    const everyMs = isSlow ? slowEveryMs : usualEveryMs
    while (this.#waiting.length > 0 && this.#takesTurn(everyMs)) {
      const { payload, isTooMuch } = this.#waiting.shift()!
      this.#turnAt += everyMs * furtherTurnsOf(payload)
      if (isTooMuch) this.#tooMuch -= 1
      this.#context.handOn(payload, isTooMuch)
    }
    this.#heed()
    if (this.#waiting.length === 0) return
    this.#pause ??= setTimeout(
      () => {
        this.#pause = undefined
        this.#move()
      },
      Math.max(everyMs, this.#turnAt + everyMs - performance.now()),
    )
  }

  /** What is too much is held nevertheless, so nothing comes behind it before it is gone. */
  #heed(): void {
    const listens = this.#tooMuch === 0 && this.#count <= (this.#listens ? most : few)
    if (this.#listens === listens) return
    this.#listens = listens
    this.#context.listen(listens)
  }

  #takesTurn(everyMs: number): boolean {
    const now = performance.now()
    const turnAt = Math.max(this.#turnAt + everyMs, now - burst * everyMs)
    if (turnAt > now) return false
    this.#turnAt = turnAt
    return true
  }
}

function furtherTurnsOf(payload: Buffer): number {
  return Math.floor(headEndOf(payload) / turnOfHeadBytes) + Math.floor(payload.length / turnOfBytes)
}
