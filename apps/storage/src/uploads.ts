import { createHash } from 'node:crypto'
import type { UploadObjectRequest } from '@automation/contract/storage/v1/storage'
import { invalid, unavailable } from '@automation/errors'
import type { ObjectStore } from '@automation/objects'
import { cancelled, type Member } from '@automation/rpc'
import { failPoint, Periodic, type Logger } from '@automation/service'
import { v7 } from 'uuid'
import { blobKey } from './blob-key.ts'
import type { StorageConfig } from './config.ts'
import { contentTypeOf } from './content-type.ts'
import { checkedName } from './object-name.ts'
import { Room } from './room.ts'
import type { ObjectRow } from './store/objects.ts'
import type { Store } from './store/store.ts'
import { abandonUpload } from './store/sweep.ts'
import { beginUpload, finishUpload, renewUpload, reserve, type Writing } from './store/uploads.ts'

export interface UploadsOptions {
  config: StorageConfig
  store: Store
  objects: ObjectStore
  logger: Logger
  /** Is told of an upload that left something to be removed. */
  abandoned: () => void
}

type Requests = AsyncIterator<UploadObjectRequest>

/** Uploads: an intent in the database, the content in the object store, and then both at once become the object. */
export class Uploads {
  readonly #options: UploadsOptions
  readonly #open = new Map<AbortController, Promise<unknown>>()

  constructor(options: UploadsOptions) {
    this.#options = options
  }

  /** Takes an upload as it comes, `begin` first. */
  async take(asker: Member, stream: AsyncIterable<UploadObjectRequest>, left: AbortSignal): Promise<ObjectRow> {
    const { config, store } = this.#options
    const requests = stream[Symbol.asyncIterator]()
    try {
      const { value } = (await requests.next()) as { value?: UploadObjectRequest }
      if (value?.part.case !== 'begin') throw invalid('/begin', 'must be the first message')
      const { contentType, size, expiresInS } = value.part.value
      const name = checkedName(value.part.value.name)
      const type = contentTypeOf(name, contentType)
      const writing = { blobId: v7(), team: asker.team, name }
      const limits = { teamMaxBytes: config.teamMaxBytes, leaseMs: config.uploadLeaseMs }
      const room = new Room(config.uploadMaxBytes, (bytes) => reserve(store, writing, bytes, limits))
      await beginUpload(store, writing, config.uploadLeaseMs)
      const declared = size === undefined ? undefined : Number(size)
      const lost = new AbortController()
      const signal = AbortSignal.any([left, lost.signal])
      const written = this.#leased(writing, lost, async () => {
        if (declared !== undefined) await room.take(declared)
        return this.#store(writing, { requests, room, declared, signal, type, createdBy: asker.name, expiresInS })
      })
      this.#open.set(lost, written)
      return await written.finally(() => this.#open.delete(lost))
    } finally {
      // Not awaited: it may wait for something of its own.
      requests.return?.().catch(() => undefined)
    }
  }

  /** Uploads that are under way are given up; nothing of them stays. */
  async close(): Promise<void> {
    for (const controller of this.#open.keys()) controller.abort(unavailable('The service is stopping, try again'))
    await Promise.allSettled(this.#open.values())
  }

  /** Does the work of an upload under its lease; nothing of one that fails stays. */
  async #leased(writing: Writing, lost: AbortController, work: () => Promise<ObjectRow>): Promise<ObjectRow> {
    const { config, store, objects, logger, abandoned } = this.#options
    const lease = new Periodic('renewing an upload', config.uploadLeaseMs / 3, logger, async () => {
      if (!(await renewUpload(store, writing.blobId, config.uploadLeaseMs)))
        lost.abort(unavailable('The upload took too long to go on, try again'))
    })
    lease.start()
    try {
      return await work()
    } catch (error) {
      const removed = objects.remove(blobKey(writing.team, writing.blobId))
      await removed
        .then(() => abandonUpload(store, writing.blobId))
        .then(abandoned, (failure: unknown) => {
          // Its lease ends, and the sweep removes it.
          logger.warn({ err: failure }, 'what an upload left can not be removed now')
        })
      throw error
    } finally {
      await lease.stop()
    }
  }

  async #store(writing: Writing, upload: Upload): Promise<ObjectRow> {
    const { config, store, objects } = this.#options
    const hash = createHash('md5')
    const { declared, signal, type, createdBy, expiresInS } = upload
    const key = blobKey(writing.team, writing.blobId)
    const content = contentOf(upload, (piece) => hash.update(piece))
    const size = await objects.put(key, content, { size: declared, signal })
    failPoint('upload-stored')
    signal.throwIfAborted()
    const written = {
      size,
      md5: hash.digest(),
      contentType: type,
      createdBy,
      expiresInS: expiresInS === undefined ? undefined : Number(expiresInS),
    }
    const limits = { teamMaxBytes: config.teamMaxBytes, graceMs: config.replacedGraceMs }
    return finishUpload(store, writing, written, limits)
  }
}

interface Upload {
  requests: Requests
  room: Room
  declared: number | undefined
  signal: AbortSignal
  type: string
  createdBy: string
  expiresInS: bigint | undefined
}

/** The pieces of an upload, each with room for it before it is stored. */
async function* contentOf({ requests, room }: Upload, seen: (piece: Uint8Array) => void): AsyncIterable<Uint8Array> {
  let size = 0
  for (;;) {
    const { value, done } = await requests.next()
    if (done === true) throw cancelled()
    const { part } = value
    if (part.case === 'end') return
    if (part.case !== 'chunk') throw invalid('/chunk', 'must follow the first message')
    if (part.value.byteLength === 0) continue
    size += part.value.byteLength
    await room.reach(size)
    seen(part.value)
    failPoint('upload-piece')
    yield part.value
  }
}
