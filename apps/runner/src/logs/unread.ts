const nothing = Buffer.alloc(0)

/** Bytes that came and are not read yet. To add some costs their own length, however many wait. */
export class Unread {
  #bytes: Buffer = nothing
  #isOwn = true
  #start = 0
  #end = 0

  get length(): number {
    return this.#end - this.#start
  }

  /** All of them; what was handed out once and kept is never written over. */
  get bytes(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end)
  }

  /** Adds bytes that stay as they are until `keep` only. */
  add(chunk: Buffer): void {
    if (this.length === 0) {
      this.#set(chunk, chunk.length)
      this.#isOwn = false
      return
    }
    this.keep()
    if (this.#end + chunk.length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow((this.length + chunk.length) * 2)
      this.#set(larger, this.bytes.copy(larger))
    }
    this.#end += chunk.copy(this.#bytes, this.#end)
  }

  /** Makes what is left its own. */
  keep(): void {
    if (!this.#isOwn) this.#set(Buffer.from(this.bytes), this.length)
  }

  /** So many of the first have been read. */
  drop(count: number): void {
    this.#start += count
    if (this.length === 0) this.clear()
  }

  clear(): void {
    this.#set(nothing, 0)
  }

  #set(bytes: Buffer, length: number): void {
    this.#bytes = bytes
    this.#isOwn = true
    this.#start = 0
    this.#end = length
  }
}
