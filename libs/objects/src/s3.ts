import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Failure } from '@automation/errors'
import type { Check } from '@automation/service'
import type { Client } from 'minio'
import type { S3Config } from './config.ts'
import { objectMissing, sizeNeeded, storeAway, StoreStalled, wrongSize } from './failures.ts'
import { checkKey, type ByteRange, type LinkTerms, type ObjectStore, type PutOptions } from './object-store.ts'

/** Notices a store that does not go on: its promise is rejected when the store is to act for longer than it may. */
class StallWatch {
  /** Never resolves. */
  readonly stalled: Promise<never>
  readonly #withinMs: number
  readonly #reject: (reason: Error) => void
  #timer: NodeJS.Timeout | undefined

  constructor(withinMs: number) {
    this.#withinMs = withinMs
    const { promise, reject } = Promise.withResolvers<never>()
    this.stalled = promise
    this.#reject = reject
    promise.catch(() => undefined)
  }

  /** From now on it is the store's turn. */
  begin(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => this.#reject(new StoreStalled(`No answer within ${this.#withinMs} ms`)),
      this.#withinMs,
    )
  }

  /** It is somebody else's turn, or over. */
  end(): void {
    clearTimeout(this.#timer)
  }
}

const usualPartBytes = 8 * 2 ** 20
/** The client numbers them from 2, and S3 to 10,000. */
const mostParts = 9999
const checkMs = 2000
const missing = new Set<unknown>(['NoSuchKey', 'NotFound', 'NoSuchUpload'])

/**
 * Objects in a bucket of an S3 server. What fits into one part is put at once; more goes up in parts that are made one
 * object by the last request, so that no half of one is ever seen.
 */
export class S3Store implements ObjectStore {
  readonly kind = 's3'
  readonly #config: S3Config
  readonly #bucket: string
  readonly #answerMs: number
  readonly #removalAnswerMs: number
  #clientAt!: ClientAt
  #client!: Client
  /** Signs for where users reach the server. */
  #outside!: Client

  constructor(config: S3Config) {
    this.#config = config
    this.#bucket = config.bucket
    this.#answerMs = config.answerMs
    this.#removalAnswerMs = config.removalAnswerMs
  }

  async open(): Promise<void> {
    this.#clientAt = await clients(this.#config)
    this.#client = this.#clientAt(this.#config.endpoint)
    this.#outside = this.#clientAt(this.#config.publicEndpoint)
  }

  async put(key: string, content: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<number> {
    checkKey(key)
    const watch = new StallWatch(this.#answerMs)
    const counted = { size: 0 }
    const pieces = watched(content, watch, counted, options)
    try {
      const { first, ended } = await readFirstPart(pieces)
      if (ended) await this.#answer(watch, this.#putWhole(key, first))
      else await this.#putParts(key, inOrder(first, pieces), watch, partBytesFor(options.size))
      return counted.size
    } catch (error) {
      throw failureOf(key, error)
    } finally {
      watch.end()
      pieces.return(undefined).catch(() => undefined)
    }
  }

  async *read(key: string, range?: ByteRange, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    checkKey(key)
    if (range?.length === 0) return
    const watch = new StallWatch(this.#answerMs)
    try {
      const asked =
        range === undefined
          ? this.#client.getObject(this.#bucket, key)
          : this.#client.getPartialObject(this.#bucket, key, range.offset, range.length)
      const stream = await this.#answer(watch, asked)
      const isOther = range !== undefined && range.offset > 0 && (stream as IncomingMessage).statusCode !== 206
      let left = range?.length ?? Infinity
      for await (const piece of this.#piecesOf<Buffer>(stream, watch)) {
        signal?.throwIfAborted()
        if (isOther) throw storeAway('a range was answered with something else')
        left -= piece.byteLength
        if (left < 0) break
        yield piece
      }
      if (range !== undefined && left !== 0) throw storeAway('a range was answered with another length')
    } catch (error) {
      throw failureOf(key, error)
    }
  }

  async size(key: string): Promise<number | undefined> {
    checkKey(key)
    try {
      return (await this.#asked(this.#client.statObject(this.#bucket, key))).size
    } catch (error) {
      const failure = failureOf(key, error)
      if (failure.code === 'object_missing') return undefined
      throw failure
    }
  }

  async remove(key: string): Promise<void> {
    await this.#gone(key, this.#client.removeObject(this.#bucket, checkKey(key)))
    await this.#gone(key, this.#client.removeIncompleteUpload(this.#bucket, key))
  }

  async removeAll(prefix: string): Promise<void> {
    const found: Readable = this.#client.listObjectsV2(this.#bucket, `${checkKey(prefix)}/`, true)
    const watch = new StallWatch(this.#removalAnswerMs)
    const keys: string[] = []
    try {
      for await (const { name } of this.#piecesOf<{ name?: string }>(found, watch))
        if (name !== undefined) keys.push(name)
    } catch (error) {
      throw failureOf(prefix, error)
    }
    for (const key of keys) await this.remove(key)
  }

  link(key: string, { expiresInS, contentType, contentDisposition }: LinkTerms): Promise<string> {
    return this.#outside.presignedGetObject(this.#bucket, checkKey(key), expiresInS, {
      'response-content-type': contentType,
      'response-content-disposition': contentDisposition,
    })
  }

  async check(): Promise<Check> {
    const watch = new StallWatch(checkMs)
    try {
      const ok = await this.#answer(watch, this.#client.bucketExists(this.#bucket))
      return { name: 'objects', ok, detail: ok ? 'S3' : `S3: there is no bucket ${this.#bucket}` }
    } catch {
      return { name: 'objects', ok: false, detail: 'S3: not reachable' }
    } finally {
      watch.end()
    }
  }

  async close(): Promise<void> {
    // Idle connections keep no process alive.
  }

  async #putWhole(key: string, content: Buffer): Promise<void> {
    const { etag } = await this.#client.putObject(this.#bucket, key, content, content.byteLength)
    // What has kept it tells its digest: this is somebody else, such as a proxy.
    if (etag === '') throw storeAway('a put was answered without an ETag')
  }

  async #putParts(
    key: string,
    content: AsyncIterable<Uint8Array>,
    watch: StallWatch,
    partBytes: number,
  ): Promise<void> {
    const client = partBytes === usualPartBytes ? this.#client : this.#clientAt(this.#config.endpoint, partBytes)
    const body = Readable.from(content)
    // The client does not look at errors of what it sends: it would wait for ever.
    const { promise: unsent, reject } = Promise.withResolvers<never>()
    body.on('error', reject)
    const put = client.putObject(this.#bucket, key, body)
    put.catch(() => undefined)
    try {
      await Promise.race([put, unsent, watch.stalled])
    } catch (error) {
      body.destroy()
      await this.#asked(this.#client.removeIncompleteUpload(this.#bucket, key)).catch(() => undefined)
      throw error
    }
  }

  /** An answer, or the failure of a server that gives none. */
  async #answer<T>(watch: StallWatch, answer: Promise<T>): Promise<T> {
    watch.begin()
    try {
      return await Promise.race([answer, watch.stalled])
    } finally {
      watch.end()
      answer.catch(() => undefined)
    }
  }

  /** What the server sends, and a failure where it does not go on; it is read no further when its reader leaves. */
  async *#piecesOf<T>(stream: Readable, watch: StallWatch): AsyncGenerator<T, void, undefined> {
    const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<T>
    try {
      for (;;) {
        const next = await this.#answer(watch, pieces.next())
        if (next.done === true) return
        yield next.value
      }
    } finally {
      stream.on('error', () => undefined).destroy()
    }
  }

  /** Of a removal: what was not there is gone as well. */
  async #gone(key: string, answer: Promise<void>): Promise<void> {
    try {
      await this.#answer(new StallWatch(this.#removalAnswerMs), answer)
    } catch (error) {
      const failure = failureOf(key, error)
      if (failure.code !== 'object_missing') throw failure
    }
  }

  #asked<T>(answer: Promise<T>): Promise<T> {
    return this.#answer(new StallWatch(this.#answerMs), answer)
  }
}

type ClientAt = (endpoint: string, partBytes?: number) => Client

/** The package is loaded only where there is an S3 server. Connections are made when they are needed. */
async function clients({ accessKey, secretKey, region }: S3Config): Promise<ClientAt> {
  const minio = await import('minio')
  return (endpoint, partBytes = usualPartBytes) => {
    const { protocol, hostname, port } = new URL(endpoint)
    return new minio.Client({
      endPoint: hostname.replace(/^\[|\]$/g, ''),
      useSSL: protocol === 'https:',
      port: port === '' ? undefined : Number(port),
      accessKey,
      secretKey,
      // Without it, signing would ask the server.
      region,
      partSize: partBytes,
    })
  }
}

/** So that a content of this size has no more parts than it may. */
function partBytesFor(size = 0): number {
  return Math.max(usualPartBytes, Math.ceil(size / mostParts))
}

/** A content on its way to a store that is watched while it is its turn. */
async function* watched(
  content: AsyncIterable<Uint8Array>,
  watch: StallWatch,
  counted: { size: number },
  { size, signal }: PutOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const most = usualPartBytes * mostParts
  for await (const piece of content) {
    watch.begin()
    signal?.throwIfAborted()
    counted.size += piece.byteLength
    if (size === undefined && counted.size > most) throw sizeNeeded(most)
    if (piece.byteLength > 0) yield piece
    watch.end()
  }
  signal?.throwIfAborted()
  if (size !== undefined && counted.size !== size) throw wrongSize(size, counted.size)
  watch.begin()
}

/** What fits into one part, and whether that is all. */
async function readFirstPart(pieces: AsyncIterator<Uint8Array>): Promise<{ first: Buffer; ended: boolean }> {
  const parts: Uint8Array[] = []
  for (let bytes = 0; bytes <= usualPartBytes;) {
    const next = await pieces.next()
    if (next.done === true) return { first: Buffer.concat(parts), ended: true }
    parts.push(next.value)
    bytes += next.value.byteLength
  }
  return { first: Buffer.concat(parts), ended: false }
}

async function* inOrder(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  yield first
  yield* rest
}

function failureOf(key: string, error: unknown): Failure {
  if (error instanceof Failure) return error
  return missing.has((error as { code?: unknown }).code) ? objectMissing(key, error) : storeAway(error)
}
