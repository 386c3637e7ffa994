import type { Api } from './api.ts'
import type { StorageUploadPart } from './generated/types.ts'
import { md5 } from './md5.ts'
import type { Uploads } from './resources/uploads.ts'
import { until } from './retries.ts'
import { piecesOf } from './stream-pieces.ts'
import type { CallOptions } from './transport.ts'

/** A stream is read part by part: no more than a part of it is in memory. */
export type UploadData =
  | string
  | Uint8Array
  | ArrayBuffer
  | Blob
  | AsyncIterable<Uint8Array>
  | ReadableStream<Uint8Array>

export interface UploadProgress {
  /** Of an upload in parts, by which a later one can go on. */
  uploadId?: string
  sentBytes: number
}

export interface UploadOptions extends CallOptions {
  /** Guessed from the name where absent. */
  contentType?: string
  /** Goes on with an upload in parts that broke off: under the same name, of the same data, from its beginning. */
  uploadId?: string
  onProgress?: (progress: UploadProgress) => void
}

const inPartsAboveBytes = 64 * 1024 * 1024

/** Stores a file under a name; see `Storage.upload`. */
export async function upload(
  api: Api,
  uploads: Uploads,
  name: string,
  data: UploadData,
  options: UploadOptions = {},
): Promise<void> {
  const { contentType, onProgress, uploadId, ...call } = options
  const blob = blobOf(data)
  if (blob !== undefined && uploadId === undefined && blob.size <= inPartsAboveBytes) {
    await api.call('POST', '/storage/objects', {
      ...call,
      query: { filename: name },
      ...bodyOf(name, blob, contentType),
    })
    onProgress?.({ sentBytes: blob.size })
    return
  }
  const begun =
    uploadId === undefined
      ? await uploads.create({ name, size: blob?.size, contentType }, call)
      : await uploads.get(uploadId, call)
  const { id, partSize, parts = [] } = begun
  if (begun.name !== name) throw new TypeError(`The upload ${id} is one of ${begun.name}, not of ${name}`)
  const kept = new Map(parts.map((part) => [part.number, part]))
  let [number, sentBytes] = [0, 0]
  const sent = blob === undefined ? partsOfStream(data as Stream, partSize, call.signal) : partsOfBlob(blob, partSize)
  for await (const part of sent) {
    number += 1
    if (!(await isKept(part, kept.get(number)))) await uploads.put(id, number, part, call)
    kept.delete(number)
    sentBytes += sizeOf(part)
    onProgress?.({ uploadId: id, sentBytes })
  }
  if (kept.size > 0)
    throw new Error(`The upload ${id} has parts behind the end of this data: it was begun with another`)
  await uploads.complete(id, call)
}

const sizeOf = (part: Blob | Uint8Array) => (part instanceof Blob ? part.size : part.length)

/** Whether the service has these bytes of a part. */
async function isKept(part: Blob | Uint8Array, kept: StorageUploadPart | undefined): Promise<boolean> {
  if (kept?.size !== sizeOf(part)) return false
  return kept.etag === md5(part instanceof Blob ? new Uint8Array(await part.arrayBuffer()) : part)
}

type Stream = AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

/** Of what is not a stream. */
function blobOf(data: UploadData): Blob | undefined {
  if (data instanceof Blob) return data
  const isWhole = typeof data === 'string' || data instanceof ArrayBuffer || ArrayBuffer.isView(data)
  return isWhole ? new Blob([data as BlobPart]) : undefined
}

/** Bytes as they are; where their type is said, a form, which has a place for it. */
function bodyOf(name: string, blob: Blob, contentType?: string) {
  if (contentType === undefined) return { rawBody: blob, headers: { 'Content-Type': 'application/octet-stream' } }
  const form = new FormData()
  form.set('file', new Blob([blob], { type: contentType }), name.split('/').at(-1))
  return { rawBody: form }
}

function* partsOfBlob(blob: Blob, partSize: number): Generator<Blob> {
  for (let from = 0; from < Math.max(blob.size, 1); from += partSize) yield blob.slice(from, from + partSize)
}

async function* partsOfStream(
  stream: Stream,
  partSize: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let part = new Uint8Array(partSize)
  let filled = 0
  let hasYielded = false
  // Not every browser's streams can be iterated.
  for await (const chunk of untilAborted(stream instanceof ReadableStream ? piecesOf(stream) : stream, signal)) {
    for (let from = 0; from < chunk.length;) {
      const taken = chunk.subarray(from, from + partSize - filled)
      part.set(taken, filled)
      filled += taken.length
      from += taken.length
      if (filled < partSize) continue
      yield part
      hasYielded = true
      part = new Uint8Array(partSize)
      filled = 0
    }
  }
  // An empty file has one empty part.
  if (filled > 0 || !hasYielded) yield part.subarray(0, filled)
}

/** What comes of it until the signal, which ends the wait for more, too. */
async function* untilAborted<T>(pieces: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  const iterator = pieces[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await until(iterator.next(), signal)
      if (done) return
      yield value
    }
  } finally {
    // One that brings nothing more does not end its reading, either.
    await until(Promise.resolve(iterator.return?.()), signal).catch((error: unknown) => {
      if (!signal?.aborted) throw error
    })
  }
}
