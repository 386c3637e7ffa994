/** As many as the child lets be open at once; more are those of a child that breaks its rules. */
const most = 1000
/** What the open calls of one run may hold here together. */
const mostBytes = 32 * 1024 * 1024
/** So many that a run makes at once are handed on, the others one by one: they take time from everybody. */
const burst = 8
const everyMs = 1

export type Refusal = 'too many' | 'too large'

/** The calls of one run, as they came, until they are answered. Those that wait for their turn cost little. */
export class OpenCalls {
  readonly #handOn: (payload: Buffer) => void
  readonly #waiting: Buffer[] = []
  #count = 0
  #bytes = 0
  #pause: NodeJS.Timeout | undefined
  /** When the last one was handed on, less what is left of the burst. */
  #turnAt = 0

  constructor(handOn: (payload: Buffer) => void) {
    this.#handOn = handOn
  }

  /** It is handed on when its turn comes, unless it is refused. */
  add(payload: Buffer): Refusal | undefined {
    if (this.#count >= most) return 'too many'
    if (this.#bytes + payload.length > mostBytes) return 'too large'
    this.#count += 1
    this.#bytes += payload.length
    this.#waiting.push(payload)
    this.#move()
    return undefined
  }

  answered(payload: Buffer): void {
    this.#count -= 1
    this.#bytes -= payload.length
  }

  /** The run is over: what waits is not handed on. */
  close(): void {
    clearTimeout(this.#pause)
    this.#waiting.length = 0
  }

  #move(): void {
    while (this.#waiting.length > 0 && this.#takesTurn()) this.#handOn(this.#waiting.shift()!)
    if (this.#waiting.length === 0) return
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined
      this.#move()
    }, everyMs)
  }

  #takesTurn(): boolean {
    const now = performance.now()
    const turnAt = Math.max(this.#turnAt + everyMs, now - burst * everyMs)
    if (turnAt > now) return false
    this.#turnAt = turnAt
    return true
  }
}

/** Of calls that were refused, as their run is told. */
export const refusals = {
  'too many': `more than ${most} calls`,
  'too large': `More than ${mostBytes} bytes of calls are open at once`,
}
