// A piece has a cost of its own beside its bytes, and a client may send its body byte by byte.
const SMALL_PIECE_BYTES = 2048
const PAGE_BYTES = 32 * 1024

/** The pieces of a body as they come; small ones are copied together. */
export class BodyPieces {
  readonly #pieces: Buffer[] = []
  #page: Buffer | undefined
  #pageUsed = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Buffer): void {
    this.#length += piece.length
    // Most bodies are one piece.
    if (piece.length > SMALL_PIECE_BYTES || this.#length === piece.length) {
      this.#closePage()
      this.#pieces.push(piece)
      return
    }
    if (this.#page === undefined || this.#pageUsed + piece.length > this.#page.length) {
      this.#closePage()
      this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES)
    }
    this.#pageUsed += piece.copy(this.#page, this.#pageUsed)
  }

  /** The body; ends the use of this. */
  whole(): Buffer {
    this.#closePage()
    return this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces, this.#length)
  }

  #closePage(): void {
    if (this.#page !== undefined && this.#pageUsed > 0) this.#pieces.push(this.#page.subarray(0, this.#pageUsed))
    this.#page = undefined
    this.#pageUsed = 0
  }
}
