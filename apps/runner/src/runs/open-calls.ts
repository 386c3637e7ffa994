/** As many as the child lets be open at once. One that has more breaks its rules: it is not read until fewer are. */
const most = 1000
const few = most / 2
/** What the open calls of one run may hold here together. */
export const mostBytes = 32 * 1024 * 1024
/** So many that a run makes at once are handed on, the others one by one: they take time from everybody. */
const burst = 64
const aloneMs = 1
const amongOthersMs = 4

export interface CallsContext {
  handOn(payload: Buffer): void
  /** Whether more are to be read. */
  listen(listens: boolean): void
  /** Whether other teams would wait for what these calls take. */
  isAmongOthers(): boolean
}

/** The calls of one run, as they came, until they are answered. Those that wait for their turn cost little. */
export class OpenCalls {
  readonly #context: CallsContext
  readonly #waiting: Buffer[] = []
  #count = 0
  #bytes = 0
  #listens = true
  #pause: NodeJS.Timeout | undefined
  /** When the last one was handed on, less what is left of the burst. */
  #turnAt = 0

  constructor(context: CallsContext) {
    this.#context = context
  }

  /** It is handed on when its turn comes; false when the open ones would hold too much. */
  add(payload: Buffer): boolean {
    if (this.#bytes + payload.length > mostBytes) return false
    this.#count += 1
    this.#bytes += payload.length
    this.#waiting.push(payload)
    this.#move()
    if (this.#count > most) this.#listen(false)
    return true
  }

  answered(payload: Buffer): void {
    this.#count -= 1
    this.#bytes -= payload.length
    if (this.#count <= few) this.#listen(true)
  }

  /** The run is over: what waits is not handed on. */
  close(): void {
    clearTimeout(this.#pause)
    this.#waiting.length = 0
    this.#listen(true)
  }

  #move(): void {
    const everyMs = this.#context.isAmongOthers() ? amongOthersMs : aloneMs
    while (this.#waiting.length > 0 && this.#takesTurn(everyMs)) this.#context.handOn(this.#waiting.shift()!)
    if (this.#waiting.length === 0) return
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined
      this.#move()
    }, everyMs)
  }

  #listen(listens: boolean): void {
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
