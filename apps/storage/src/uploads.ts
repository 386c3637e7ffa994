import { createHash } from 'node:crypto'
import type { UploadObjectRequest } from '@automation/contract/storage/v1/storage'
import { invalid } from '@automation/errors'
import type { ObjectStore } from '@automation/objects'
import type { Member } from '@automation/rpc'
import { failPoint } from '@automation/service'
import mime from 'mime'
import { v7 } from 'uuid'
import { blobKey, type Store } from './store/store.ts'
import type { StorageConfig } from './config.ts'
import { checkedName } from './objects.ts'
import type { ObjectRow } from './store/objects.ts'
import { finishUpload, type Writing } from './store/uploads.ts'
import { contentOf, type Writer, type Writings } from './writings.ts'

interface UploadsOptions {
  config: StorageConfig
  store: Store
  objects: ObjectStore
  writings: Writings
  /** Of all objects of a team together. */
  maxBytesOf: (team: string) => number
}

type Requests = AsyncIterator<UploadObjectRequest>

/** Uploads of objects: the content in the object store, and then, in the database, at once the object's. */
export class Uploads {
  readonly #options: UploadsOptions

  constructor(options: UploadsOptions) {
    this.#options = options
  }

  /** Takes an upload as it comes, `begin` first. */
  async take(asker: Member, stream: AsyncIterable<UploadObjectRequest>, left: AbortSignal): Promise<ObjectRow> {
    const { config, writings } = this.#options
    const requests = stream[Symbol.asyncIterator]()
    try {
      const { value } = (await requests.next()) as { value?: UploadObjectRequest }
      if (value?.part.case !== 'begin') throw invalid('/begin', 'must be the first message')
      const { contentType, size, expiresInS } = value.part.value
      const name = checkedName(value.part.value.name)
      const type = contentTypeOf(name, contentType)
      const writing = { blobId: v7(), team: asker.team, name }
      const declared = size === undefined ? undefined : Number(size)
      const most = { what: 'object' as const, maxBytes: config.uploadMaxBytes, teamMaxObjects: config.teamMaxObjects }
      return await writings.write(writing, most, left, async (writer) => {
        if (declared !== undefined) await writer.quota.take(declared)
        return this.#store(writing, { requests, ...writer, declared, type, asker, expiresInS })
      })
    } finally {
      // Not awaited: it may wait for something of its own.
      requests.return?.().catch(() => undefined)
    }
  }

  async #store(writing: Writing, upload: Upload): Promise<ObjectRow> {
    const { config, store, objects } = this.#options
    const hash = createHash('md5')
    const { requests, quota, declared, signal, type, asker, expiresInS } = upload
    const key = blobKey(writing.team, writing.blobId)
    const content = contentOf(requests, quota, (piece) => hash.update(piece))
    const size = await objects.put(key, content, { size: declared, signal })
    failPoint('upload-stored')
    signal.throwIfAborted()
    const written = {
      size,
      md5: hash.digest(),
      contentType: type,
      asker,
      expiresInS: expiresInS === undefined ? undefined : Number(expiresInS),
    }
    const { teamMaxObjects, replacedGraceMs: graceMs } = config
    const teamMaxBytes = this.#options.maxBytesOf(writing.team)
    const limits = { teamMaxBytes, teamMaxObjects, graceMs }
    return finishUpload(store, writing, written, limits)
  }
}

interface Upload extends Writer {
  requests: Requests
  declared: number | undefined
  type: string
  asker: Member
  expiresInS: bigint | undefined
}

const unknown = 'application/octet-stream'
const maxChars = 255
// A type, a subtype and parameters as they may stand in a header.
const pattern = /^[\w!#$&^.+-]+\/[\w!#$&^.+*-]+(?:\s*;[\t\x20-\x7e]*)?$/

/** The type of an object's content: the one given, else guessed from the end of the name. Failure at /contentType. */
export function contentTypeOf(name: string, given: string): string {
  const type = given.trim()
  if (type === '' || essenceOf(type) === unknown) return mime.getType(name) ?? unknown
  if (type.length > maxChars || !pattern.test(type)) throw invalid('/contentType', 'must be a media type')
  return type
}

function essenceOf(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}
