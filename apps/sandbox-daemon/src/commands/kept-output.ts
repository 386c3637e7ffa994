import type { Output } from './command.ts'

/** Output, or how many bytes of it are missing here. */
export type Kept = Output | { case: 'lost'; value: bigint }

const mostBytes = 512 * 1024
// Small pieces are joined, so that few are kept.
const pieceBytes = 4096
// What a piece counts at least: where both outputs take turns, none are joined.
const pieceLeastBytes = 256

interface Piece {
  output: Output
  bytes: number
  /** Bytes of output before it. */
  at: number
}

/** The last output of a command, and its end, for any number of readers: none of them holds it up. */
export class KeptOutput {
  #pieces: Piece[] = []
  #weight = 0
  /** Of all that was written, in bytes. */
  #written = 0
  #isClosed = false
  readonly #wakes = new Set<() => void>()

  /** How the command ended, where it has. */
  get end(): Extract<Output, { case: 'ended' }>['value'] | undefined {
    const last = this.#pieces.at(-1)?.output
    return last?.case === 'ended' ? last.value : undefined
  }

  push(output: Output): void {
    const bytes = output.case === 'ended' ? 0 : output.value.length
    const last = this.#pieces.at(-1)
    if (output.case !== 'ended' && last?.output.case === output.case && last.bytes + bytes <= pieceBytes) {
      // Another object: readers hold the one before.
      this.#weight -= weightOf(this.#pieces.pop()!)
      this.#keep(joined(last, output.value))
    } else this.#keep({ output, bytes, at: this.#written })
    this.#written += bytes
    while (this.#weight > mostBytes && this.#pieces.length > 1) this.#weight -= weightOf(this.#pieces.shift()!)
    this.#isClosed ||= output.case === 'ended'
    this.#wake()
  }

  /** Nothing more comes. */
  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** From what is kept to the end, or until the signal is aborted. */
  async *read(signal: AbortSignal): AsyncGenerator<Kept> {
    let at = 0
    for (;;) {
      const next = this.#from(at)
      if (next !== undefined) {
        if (next.at > at) yield { case: 'lost', value: BigInt(next.at - at) }
        const { output } = next
        const value = output.case === 'ended' ? undefined : output.value.subarray(Math.max(at - next.at, 0))
        at = next.at + next.bytes
        yield value === undefined ? output : ({ case: output.case, value } as Output)
        if (output.case === 'ended') return
      } else if (this.#isClosed || signal.aborted) return
      else await this.#more(signal)
    }
  }

  /** The piece that goes on at a number of bytes, or the first that is kept behind it. */
  #from(at: number): Piece | undefined {
    const found = this.#pieces.findLast((piece) => piece.at <= at)
    if (found === undefined) return this.#pieces[0]
    if (found.at + found.bytes > at || found.output.case === 'ended') return found
    return undefined
  }

  #keep(piece: Piece): void {
    this.#pieces.push(piece)
    this.#weight += weightOf(piece)
  }

  #wake(): void {
    for (const wake of this.#wakes) wake()
  }

  async #more(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake)
        this.#wakes.delete(wake)
        resolve()
      }
      this.#wakes.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}

function weightOf({ output, bytes }: Piece): number {
  return output.case === 'ended' ? 0 : Math.max(bytes, pieceLeastBytes)
}

function joined({ output, bytes, at }: Piece, more: Buffer): Piece {
  const value = Buffer.concat([(output as { value: Buffer }).value, more])
  return { output: { ...output, value } as Output, bytes: bytes + more.length, at }
}
