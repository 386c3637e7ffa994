import { constants, openSync, unlinkSync } from 'node:fs'
import { Socket } from 'node:net'

/** Takes bytes of an output. Their memory is used again afterwards: who keeps them copies them. */
export type OnBytes = (bytes: Buffer) => void

// All outputs are read into it: a flood that is thrown away must leave nothing to collect, as collecting stops everybody.
const room = Buffer.allocUnsafeSlow(64 * 1024)

/** One of the two outputs of a child. */
export class Output extends Socket {
  readonly #take: { bytes: OnBytes; early: Buffer[] }

  private constructor(fd: number, take: { bytes: OnBytes; early: Buffer[] }) {
    const callback = (count: number) => (take.bytes(room.subarray(0, count)), true)
    super({ fd, readable: true, writable: false, onread: { buffer: room, callback } })
    this.#take = take
  }

  /** Opens a named pipe that the launcher holds open, too; its name is not needed any more. */
  static open(path: string): Output {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    unlinkSync(path)
    const early: Buffer[] = []
    return new Output(fd, { early, bytes: (bytes) => early.push(Buffer.from(bytes)) })
  }

  /** Who takes what is printed, from the start. */
  onBytes(take: OnBytes): void {
    this.#take.bytes = take
    for (const bytes of this.#take.early.splice(0)) take(bytes)
  }
}
