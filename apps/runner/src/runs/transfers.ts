import type { StorageObject, StorageService } from '@automation/contract/storage/v1/storage'
import { Failure, unavailable } from '@automation/errors'
import { uploadMessages } from '@automation/contract/uploads'
import type { CallContext, Client } from '@automation/rpc'
import { MessageQueue } from '@automation/rpc/message-queue'

interface Upload {
  pieces: MessageQueue<Uint8Array>
  made: Promise<StorageObject>
  /** Resolves when the last piece is on its way. */
  passed: Promise<void>
}

type Reading = AsyncIterator<Uint8Array>

const maxOpen = 50

/** The uploads and downloads that one run has open, by the numbers under which its child knows them. */
export class Transfers {
  readonly #storage: Client<typeof StorageService>
  readonly #uploads = new Map<number, Upload>()
  readonly #readings = new Map<number, Reading>()
  #last = 0

  /** All end when `over` is aborted. */
  constructor(storage: Client<typeof StorageService>, over: AbortSignal) {
    this.#storage = storage
    over.addEventListener('abort', () => this.#end(), { once: true })
  }

  beginUpload(name: string, contentType: string, context: CallContext): number {
    const number = this.#next()
    const pieces = new MessageQueue<Uint8Array>()
    const made = this.#storage.uploadObject(uploadMessages({ name, contentType }, pieces), context)
    // Who gives pieces must not wait for one who takes no more.
    made.catch((error: unknown) => pieces.abort(error as Error))
    this.#uploads.set(number, { pieces, made, passed: Promise.resolve() })
    return number
  }

  /** Resolves when the piece before is on its way. */
  async write(number: number, piece: Uint8Array): Promise<void> {
    const upload = this.#upload(number)
    const { pieces, made, passed } = upload
    upload.passed = pieces.pass(piece)
    try {
      await Promise.race([passed, made])
    } catch (error) {
      this.#uploads.delete(number)
      throw error
    }
  }

  async finish(number: number): Promise<StorageObject> {
    const { pieces, made } = this.#upload(number)
    pieces.close()
    try {
      return await made
    } finally {
      this.#uploads.delete(number)
    }
  }

  beginReading(pieces: AsyncIterable<Uint8Array>): number {
    const number = this.#next()
    this.#readings.set(number, pieces[Symbol.asyncIterator]())
    return number
  }

  /** The next piece; undefined when there is no more. */
  async read(number: number): Promise<Uint8Array | undefined> {
    const reading = this.#readings.get(number)
    if (reading === undefined) throw notOpen()
    try {
      const next = await reading.next()
      if (next.done !== true) return next.value
      this.#readings.delete(number)
      return undefined
    } catch (error) {
      this.#readings.delete(number)
      throw error
    }
  }

  /** Gives an upload or a download up. */
  close(number: number): void {
    this.#uploads.get(number)?.pieces.abort(unavailable('The upload was given up'))
    this.#uploads.delete(number)
    this.#readings
      .get(number)
      ?.return?.()
      .catch(() => undefined)
    this.#readings.delete(number)
  }

  #upload(number: number): Upload {
    const upload = this.#uploads.get(number)
    if (upload === undefined) throw notOpen()
    return upload
  }

  #next(): number {
    if (this.#uploads.size + this.#readings.size >= maxOpen)
      throw new Failure('resource_exhausted', 'too_many_transfers', `A run may have ${maxOpen} transfers open at once`)
    return ++this.#last
  }

  #end(): void {
    for (const number of [...this.#uploads.keys(), ...this.#readings.keys()]) this.close(number)
  }
}

function notOpen(): Failure {
  return new Failure('failed_precondition', 'transfer_not_open', 'This upload or download is not open')
}
