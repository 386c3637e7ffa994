import { Socket } from 'node:net'
import { MessageQueue } from '@automation/rpc/message-queue'

type Written = (error?: Error | null) => void

/** Of what came from a port and its reader has not taken yet. */
const waitingBytes = 64 * 1024

/**
 * A connection to a port that is read to its end, also where the port takes no more of what is written: one that has
 * answered before it has read all refuses the rest, and Node would drop what it has answered.
 */
export class PortSocket extends Socket {
  #refusal: NodeJS.ErrnoException | undefined
  readonly #refused = Promise.withResolvers<void>()

  constructor() {
    super({ allowHalfOpen: true })
  }

  /** Resolves when it takes no more. */
  get refused(): Promise<void> {
    return this.#refused.promise
  }

  /** What comes; throws where the port broke the connection, behind what came before. */
  received(): AsyncIterable<Buffer> {
    const queue = new MessageQueue<Buffer>(({ length }) => length)
    this.on('data', (data: Buffer) => {
      queue.push(data, () => queue.unread < waitingBytes && this.resume())
      if (queue.unread >= waitingBytes) this.pause()
    })
    // EPIPE: it was after its end that the port refused what was written.
    this.on('end', () => queue.close(this.#refusal?.code === 'EPIPE' ? undefined : this.#refusal))
    this.on('close', () => queue.close(new Error('The connection is closed')))
    return queue
  }

  override _write(data: Buffer, encoding: BufferEncoding, written: Written): void {
    this.#unlessRefused(written, (done) => super._write(data, encoding, done))
  }

  override _writev(pieces: { chunk: Buffer; encoding: BufferEncoding }[], written: Written): void {
    this.#unlessRefused(written, (done) => super._writev?.(pieces, done))
  }

  #unlessRefused(written: Written, write: (written: Written) => void): void {
    if (this.#refusal !== undefined) return written()
    write((error) => {
      this.#refusal ??= error ?? undefined
      if (this.#refusal !== undefined) this.#refused.resolve()
      written()
    })
  }
}
