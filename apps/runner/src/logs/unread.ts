const nothing = Buffer.alloc(0)

/** Bytes that came and are not read yet. To add some costs their own length, however many wait. */
export class Unread {
  #bytes: Buffer = nothing
  #start = 0
  #end = 0

  get length(): number {
    return this.#end - this.#start
  }

  /** All of them; what was handed out once is never written over. */
  get bytes(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end)
  }

  add(chunk: Buffer): void {
    if (this.length === 0) {
      this.#set(chunk, chunk.length)
      return
    }
    if (this.#end + chunk.length > this.#bytes.length) {
      const roomier = Buffer.allocUnsafeSlow((this.length + chunk.length) * 2)
      this.#set(roomier, this.bytes.copy(roomier))
    }
    this.#end += chunk.copy(this.#bytes, this.#end)
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
    this.#start = 0
    this.#end = length
  }
}
