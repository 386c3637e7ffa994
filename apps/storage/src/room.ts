import { Failure } from '@automation/errors'

const stepBytes = 64 * 2 ** 20

/** Asks for more room for an upload, in bytes. Failure storage_full. */
export type Reserve = (bytes: number) => Promise<void>

/** The room that an upload takes: asked for ahead in steps, and exactly where a step is too much. */
export class Room {
  readonly #reserve: Reserve
  readonly #maxBytes: number
  #reserved = 0

  /** `maxBytes` is the largest object. */
  constructor(maxBytes: number, reserve: Reserve) {
    this.#maxBytes = maxBytes
    this.#reserve = reserve
  }

  /** Before anything is stored, where the size is known. Failures: object_too_large, storage_full. */
  async take(size: number): Promise<void> {
    this.#check(size)
    if (size > this.#reserved) await this.#add(size - this.#reserved)
  }

  /** Before the bytes up to `size` are stored. Failures: object_too_large, storage_full. */
  async reach(size: number): Promise<void> {
    this.#check(size)
    if (size <= this.#reserved) return
    const needed = size - this.#reserved
    try {
      await this.#add(Math.max(needed, stepBytes))
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'storage_full')) throw error
      await this.#add(needed)
    }
  }

  async #add(bytes: number): Promise<void> {
    await this.#reserve(bytes)
    this.#reserved += bytes
  }

  #check(size: number): void {
    if (size > this.#maxBytes)
      throw new Failure('too_large', 'object_too_large', `An object may have at most ${this.#maxBytes} bytes`)
  }
}
