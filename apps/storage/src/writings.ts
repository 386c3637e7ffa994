import { Failure, invalid, unavailable } from '@automation/errors'
import { isStall } from '@automation/objects'
import { cancelled } from '@automation/rpc'
import { failPoint, Periodic, type Logger } from '@automation/service'
import type { Store } from './store/store.ts'
import type { StorageConfig } from './config.ts'
import { abandonLateUpload, abandonUpload } from './store/sweep.ts'
import { beginUpload, renewUpload, reserve, type Writing } from './store/uploads.ts'

interface WritingsOptions {
  config: StorageConfig
  store: Store
  logger: Logger
  /** Of all objects of a team together. */
  maxBytesOf: (team: string) => number
  /** Is told of an upload that failed: the sweep removes what it left. */
  abandoned: () => void
}

/** What the work of one upload is given. */
export interface Writer {
  /** For what it stores. */
  quota: Quota
  /** Aborted when the upload is to be given up. */
  signal: AbortSignal
}

/** The largest content, and what it is of. */
export interface Most {
  maxBytes: number
  what: 'object' | 'part'
}

/** Contents that are being written: an intent in the database first, held by a lease; nothing of one that fails stays. */
export class Writings {
  readonly #options: WritingsOptions
  readonly #open = new Map<AbortController, Promise<unknown>>()

  constructor(options: WritingsOptions) {
    this.#options = options
  }

  /** Does the work of an upload, whose blob is then there to be made something. */
  async write<T>(
    writing: Writing,
    { teamMaxObjects, ...most }: Most & { teamMaxObjects?: number },
    left: AbortSignal,
    work: (writer: Writer) => Promise<T>,
  ): Promise<T> {
    const { config, store } = this.#options
    const limits = { teamMaxBytes: this.#options.maxBytesOf(writing.team), leaseMs: config.uploadLeaseMs }
    const quota = new Quota(most, (bytes) => reserve(store, writing, bytes, limits))
    await beginUpload(store, writing, { leaseMs: config.uploadLeaseMs, teamMaxObjects })
    const lost = new AbortController()
    const signal = AbortSignal.any([left, lost.signal])
    const written = this.#leased(writing, lost, () => work({ quota, signal }))
    this.#open.set(lost, written)
    return written.finally(() => this.#open.delete(lost))
  }

  /** Uploads that are under way are given up; nothing of them stays. */
  async close(): Promise<void> {
    for (const controller of this.#open.keys()) controller.abort(unavailable('The service is stopping, try again'))
    await Promise.allSettled(this.#open.values())
  }

  async #leased<T>(writing: Writing, lost: AbortController, work: () => Promise<T>): Promise<T> {
    const { config, store, logger, abandoned } = this.#options
    const lease = new Periodic('renewing an upload', config.uploadLeaseMs / 3, logger, async () => {
      if (!(await renewUpload(store, writing.blobId, config.uploadLeaseMs)))
        lost.abort(unavailable('The upload took too long to go on, try again'))
    })
    lease.start()
    try {
      return await work()
    } catch (error) {
      // The row alone knows whether its content was made something: an answer to a COMMIT may have been lost.
      const { blobId: id, team } = writing
      const over = isStall(error)
        ? abandonLateUpload(store, { id, team }, config.replacedGraceMs)
        : abandonUpload(store, id)
      await over.then(abandoned, (failure: unknown) => {
        // Its lease ends then.
        logger.warn({ err: failure }, 'an upload can not be given up now')
      })
      throw error
    } finally {
      await lease.stop()
    }
  }
}

/** A message behind the first one of an upload. */
interface Piece {
  part: { case: 'chunk'; value: Uint8Array } | { case: 'begin' | 'end' | undefined }
}

/** The pieces of an upload, each counted against the quota before it is stored. */
export async function* contentOf(
  requests: AsyncIterator<Piece>,
  quota: Quota,
  seen: (piece: Uint8Array) => void,
): AsyncIterable<Uint8Array> {
  let size = 0
  for (;;) {
    const { value, done } = await requests.next()
    if (done === true) throw cancelled()
    const { part } = value
    if (part.case === 'end') return
    if (part.case !== 'chunk') throw invalid('/chunk', 'must follow the first message')
    if (part.value.byteLength === 0) continue
    size += part.value.byteLength
    await quota.reach(size)
    seen(part.value)
    failPoint('upload-piece')
    yield part.value
  }
}

const stepBytes = 64 * 2 ** 20

/** Reserves more bytes of the quota of the team. Failure storage_full. */
type Reserve = (bytes: number) => Promise<void>

/** The part of the quota that an upload takes: reserved ahead in steps, and exactly where a step is too much. */
class Quota {
  readonly #reserve: Reserve
  readonly #most: Most
  #reserved = 0

  constructor(most: Most, reserve: Reserve) {
    this.#most = most
    this.#reserve = reserve
  }

  /** Before anything is stored, where the size is known. Failures: object_too_large or part_too_large, storage_full. */
  async take(size: number): Promise<void> {
    this.#check(size)
    if (size > this.#reserved) await this.#add(size - this.#reserved)
  }

  /** Before the bytes up to `size` are stored. Failures: object_too_large or part_too_large, storage_full. */
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
    if (size > this.#most.maxBytes) throw tooLarge(this.#most)
  }
}

/** Failure object_too_large or part_too_large. */
export function tooLarge({ what, maxBytes }: Most): Failure {
  const subject = what === 'object' ? 'An object' : 'A part'
  return new Failure('too_large', `${what}_too_large`, `${subject} may have at most ${maxBytes} bytes`)
}
