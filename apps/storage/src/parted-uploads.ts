import { createHash, type Hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { MAX_PART_BYTES } from '@automation/contract/uploads'
import type { PutPartRequest } from '@automation/contract/storage/v1/upload'
import { asFailure, Failure, invalid, notFound } from '@automation/errors'
import type { ObjectStore } from '@automation/objects'
import type { Member } from '@automation/rpc'
import { failPoint, type Logger } from '@automation/service'
import { v7, validate } from 'uuid'
import type { StorageConfig } from './config.ts'
import { checkedName } from './objects.ts'
import { checkedNumber, partSizeFor } from './parts.ts'
import type { ObjectRow } from './store/objects.ts'
import {
  claimUpload,
  completeUpload,
  deleteUpload,
  expectPart,
  finishPart,
  insertUpload,
  openUploads,
  readParts,
  readUpload,
  type PartRow,
  type UploadRow,
} from './store/parted-uploads.ts'
import { blobKey, type Store } from './store/store.ts'
import { contentTypeOf } from './uploads.ts'
import { contentOf, tooLarge, type Most, type Writings } from './writings.ts'

interface PartedUploadsOptions {
  config: StorageConfig
  store: Store
  objects: ObjectStore
  writings: Writings
  logger: Logger
  /** Of all objects of a team together. */
  maxBytesOf: (team: string) => number
  /** Is told that contents are to be removed. */
  dropped: () => void
}

/** Blobs of parts have this name; no object has it. */
const partBlobName = ''
const md5Bytes = 16
/** How often a call looks whether another one has completed the same upload. */
const lookEveryMs = 200

/** Uploads in parts: each part is a content of its own, and at the end they are written as one. */
export class PartedUploads {
  readonly #options: PartedUploadsOptions
  readonly #part: Most
  readonly #object: Most

  constructor(options: PartedUploadsOptions) {
    this.#options = options
    const { uploadMaxBytes } = options.config
    this.#object = { what: 'object', maxBytes: uploadMaxBytes }
    this.#part = { what: 'part', maxBytes: Math.min(uploadMaxBytes, MAX_PART_BYTES) }
  }

  /** Opens an upload of so many bytes, where that is known. Failures: limit_reached, object_too_large, storage_full. */
  async create(
    { team }: Member,
    { name, contentType, size }: { name: string; contentType: string; size: bigint | undefined },
  ): Promise<UploadRow> {
    const { config, store, maxBytesOf } = this.#options
    checkedName(name, '/name')
    const type = contentTypeOf(name, contentType)
    const declared = size === undefined ? undefined : Number(size)
    if (declared !== undefined && declared < 0) throw invalid('/size', 'must not be negative')
    if (declared !== undefined && declared > this.#object.maxBytes) throw tooLarge(this.#object)
    const { teamMaxUploads, uploadKeepMs: keepMs } = config
    const opened = { id: v7(), team, name, contentType: type, size: declared, partSize: partSizeFor(declared) }
    return insertUpload(store, opened, { teamMaxUploads, teamMaxBytes: maxBytesOf(team), keepMs })
  }

  async get(team: string, id: string): Promise<{ upload: UploadRow; parts: PartRow[] }> {
    const upload = await this.#read(team, id)
    return { upload, parts: await readParts(this.#options.store, { team, id }) }
  }

  list(team: string): Promise<UploadRow[]> {
    return openUploads(this.#options.store, team, this.#options.config.teamMaxUploads)
  }

  /** Takes a part as it comes, `begin` first. Failures: wrong_digest where it is not what it must be; limit_reached; upload_closed. */
  async take({ team }: Member, stream: AsyncIterable<PutPartRequest>, left: AbortSignal): Promise<PartRow> {
    const { config, store, writings } = this.#options
    const requests = stream[Symbol.asyncIterator]()
    try {
      const { value } = (await requests.next()) as { value?: PutPartRequest }
      if (value?.part.case !== 'begin') throw invalid('/begin', 'must be the first message')
      const { id, number, size, md5 } = value.part.value
      checkedNumber(number)
      if (md5.length > 0 && md5.length !== md5Bytes) throw invalid('/Content-MD5', `must be of ${md5Bytes} bytes`)
      const { teamMaxObjects, uploadKeepMs: keepMs } = config
      await expectPart(store, { team, id: checkedId(id) }, number, { teamMaxObjects, keepMs })
      const writing = { blobId: v7(), team, name: partBlobName }
      return await writings.write(writing, this.#part, left, async ({ quota, signal }) => {
        const declared = size === undefined ? undefined : Number(size)
        if (declared !== undefined) await quota.take(declared)
        const hash = createHash('md5')
        const content = contentOf(requests, quota, (piece) => hash.update(piece))
        const stored = await this.#options.objects.put(blobKey(team, writing.blobId), content, {
          size: declared,
          signal,
        })
        failPoint('part-stored')
        signal.throwIfAborted()
        const part = { number, blobId: writing.blobId, size: stored, md5: hash.digest() }
        if (md5.length > 0 && !part.md5.equals(md5)) throw wrongDigest()
        const limits = {
          teamMaxBytes: this.#options.maxBytesOf(team),
          teamMaxObjects,
          object: this.#object,
          keepMs,
        }
        await finishPart(store, id, writing, part, limits)
        failPoint('part-kept')
        return part
      })
    } finally {
      // Not awaited: it may wait for something of its own.
      requests.return?.().catch(() => undefined)
    }
  }

  /**
   * Makes one object of the parts. That goes on without its caller, who waits only so long. Failures: parts_missing,
   * wrong_size; upload_completing where it takes longer.
   */
  async complete(asker: Member, id: string): Promise<ObjectRow> {
    const { config, logger } = this.#options
    const waiting = new AbortController()
    const completed = this.#completed(asker, checkedId(id), waiting.signal)
    const late = pause(config.completeWaitMs, undefined, { signal: waiting.signal }).then(() => {
      completed.catch((error: unknown) => logger.warn({ err: error, upload: id }, 'an upload could not be completed'))
      throw completing()
    })
    // The one that ends the waiting ends it for the other, too.
    late.catch(() => undefined)
    try {
      return await Promise.race([completed, late])
    } finally {
      waiting.abort()
    }
  }

  /** Its parts are gone with it. */
  async delete({ team }: Member, id: string): Promise<void> {
    if (!(await deleteUpload(this.#options.store, { team, id: checkedId(id) }))) throw notFound('upload')
    this.#options.dropped()
  }

  async #read(team: string, id: string): Promise<UploadRow> {
    const row = await readUpload(this.#options.store, { team, id: checkedId(id) })
    if (row === undefined) throw notFound('upload')
    return row
  }

  /** Completes an upload, or waits until somebody else has. */
  async #completed(asker: Member, id: string, over: AbortSignal): Promise<ObjectRow> {
    for (;;) {
      const upload = await this.#read(asker.team, id)
      const object = objectOf(upload)
      if (object !== undefined) return object
      if (!upload.isCompleting) {
        try {
          return await this.#assemble(asker, upload)
        } catch (error) {
          // Another call was a moment sooner.
          if (asFailure(error).code !== 'upload_closed') throw error
        }
      }
      if (over.aborted) throw completing()
      await pause(lookEveryMs)
    }
  }

  async #assemble(asker: Member, { id, name, contentType }: UploadRow): Promise<ObjectRow> {
    const { config, store, objects, writings, maxBytesOf, dropped } = this.#options
    const { team } = asker
    const { teamMaxObjects, replacedGraceMs: graceMs } = config
    const writing = { blobId: v7(), team, name }
    // What it writes counts as its parts until then.
    const unattended = new AbortController().signal
    const object = await writings.write(
      writing,
      { ...this.#object, teamMaxObjects },
      unattended,
      async ({ signal }) => {
        const { parts, size } = await claimUpload(store, { team, id }, writing.blobId, config.uploadKeepMs)
        failPoint('upload-claimed')
        const hash = createHash('md5')
        await objects.put(blobKey(team, writing.blobId), this.#joined(team, parts, hash, signal), { size, signal })
        failPoint('upload-joined')
        signal.throwIfAborted()
        const written = { size, md5: hash.digest(), contentType, asker, expiresInS: undefined }
        const limits = { teamMaxBytes: maxBytesOf(team), teamMaxObjects, graceMs, keepMs: config.completedKeepMs }
        return completeUpload(store, id, writing, written, limits)
      },
    )
    failPoint('upload-completed')
    dropped()
    return object
  }

  /** The contents of parts, one behind the other. Failure upload_not_found where one is gone: the upload was deleted. */
  async *#joined(team: string, parts: PartRow[], hash: Hash, signal: AbortSignal): AsyncIterable<Uint8Array> {
    try {
      for (const { blobId, size } of parts)
        for await (const piece of this.#options.objects.read(
          blobKey(team, blobId),
          { offset: 0, length: size },
          signal,
        )) {
          hash.update(piece)
          failPoint('joined-piece')
          yield piece
        }
    } catch (error) {
      throw error instanceof Failure && error.code === 'object_missing' ? notFound('upload') : error
    }
  }
}

/** What a completed upload became; undefined for one that is not completed. */
function objectOf(upload: UploadRow): ObjectRow | undefined {
  const { name, contentType, assembly, objectSize, objectMd5, objectCreatedAt, completedAt } = upload
  if (completedAt === null) return undefined
  return {
    name,
    contentType,
    blobId: assembly!,
    size: objectSize!,
    md5: objectMd5!,
    createdAt: objectCreatedAt!,
    updatedAt: completedAt,
  }
}

function checkedId(id: string): string {
  if (!validate(id)) throw notFound('upload')
  return id
}

function wrongDigest(): Failure {
  const message = 'is not that of the part as it came: send it again'
  return invalid('/Content-MD5', message, 'wrong_digest')
}

function completing(): Failure {
  const text = 'The upload is being completed, and that goes on: ask again'
  return new Failure('unavailable', 'upload_completing', text, { retryAfterS: 1 })
}
