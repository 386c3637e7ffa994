import type { Api } from './api.ts'
import type { Uploads } from './resources/uploads.ts'
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
  /** Goes on with an upload in parts that broke off: of the same data, from its beginning. */
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
  const { id, partSize, parts: present = [] } = begun
  const sizes = new Map(present.map(({ number, size }) => [number, size]))
  let [number, sentBytes] = [0, 0]
  for await (const part of blob === undefined ? partsOfStream(data as Stream, partSize) : partsOfBlob(blob, partSize)) {
    number += 1
    const size = part instanceof Blob ? part.size : part.length
    if (sizes.get(number) !== size) await uploads.put(id, number, part, call)
    sentBytes += size
    onProgress?.({ uploadId: id, sentBytes })
  }
  await uploads.complete(id, call)
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

async function* partsOfStream(stream: Stream, partSize: number): AsyncGenerator<Uint8Array> {
  let part = new Uint8Array(partSize)
  let filled = 0
  let hasYielded = false
  // Not every browser's streams can be iterated.
  for await (const chunk of stream instanceof ReadableStream ? piecesOf(stream) : stream) {
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
