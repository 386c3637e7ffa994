// Longer than what is shown, so that a secret across the cut is whole when it is masked.
const keptBytes = 192 * 1024

/**
 * Cuts bytes into lines of text; invalid UTF-8 is replaced, and of a line of any length only the start is kept.
 * Of the bytes that it is given it keeps copies.
 */
export class LineSplitter {
  readonly #onLine: (text: string, wasCut: boolean) => void
  #pieces: Buffer[] = []
  #size = 0
  #cut = false

  constructor(onLine: (text: string, wasCut: boolean) => void) {
    this.#onLine = onLine
  }

  push(bytes: Buffer): void {
    let at = 0
    for (;;) {
      const newline = bytes.indexOf(10, at)
      if (newline < 0) break
      this.#keep(bytes.subarray(at, newline))
      this.#emit()
      at = newline + 1
    }
    if (at < bytes.length && !this.#cut) this.#keep(Buffer.from(bytes.subarray(at, at + keptBytes + 1)))
  }

  /** The last line, when it has no newline. */
  flush(): void {
    if (this.#size > 0) this.#emit()
  }

  /** Whether no more is kept of the line that is on. */
  get isCut(): boolean {
    return this.#cut
  }

  reset(): void {
    this.#pieces = []
    this.#size = 0
    this.#cut = false
  }

  #keep(piece: Buffer): void {
    const leftBytes = keptBytes - this.#size
    if (piece.length > leftBytes) this.#cut = true
    if (leftBytes <= 0 || piece.length === 0) return
    this.#pieces.push(piece.length > leftBytes ? piece.subarray(0, leftBytes) : piece)
    this.#size += Math.min(piece.length, leftBytes)
  }

  #emit(): void {
    const line = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    const wasCut = this.#cut
    this.reset()
    const end = line.at(-1) === 13 ? line.length - 1 : line.length
    this.#onLine(line.toString('utf8', 0, end), wasCut)
  }
}
