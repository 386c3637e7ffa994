import type { IncomingMessage } from 'node:http'
import { asFailure, type Failure } from '@automation/errors'
import { type ArrivingBody, type BodyBudget, SMALL_BODY_BYTES } from './body-budget.ts'
import type { Exchange } from './exchange.ts'
import { bodyTooLarge, malformedRequest, requestTimeout, unsupportedMediaType } from './refusals.ts'

/** A Content-Type, taken apart: names in lower case. */
export interface MediaType {
  /** Such as `application/json`; empty when there is no header, `unknown` when it names no type. */
  essence: string
  charset: string | undefined
}

/** Reads a Content-Type header. What is not understood of its parameters is left out. */
export function mediaTypeOf(header: string | undefined): MediaType {
  if (header === undefined || header === '') return { essence: '', charset: undefined }
  const semicolon = header.indexOf(';')
  if (semicolon === -1) return { essence: essenceOf(header), charset: undefined }
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)"?/i.exec(header)?.[1]?.toLowerCase()
  return { essence: essenceOf(header.slice(0, semicolon)), charset }
}

function essenceOf(text: string): string {
  return text.trim().toLowerCase() || 'unknown'
}

/** Whether a media type says JSON, as `application/json` and `…+json` do. */
export function isJson(essence: string): boolean {
  return essence === 'application/json' || (essence.endsWith('+json') && essence.includes('/'))
}

const TEXT_TYPES = new Set([
  'application/xml',
  'application/x-www-form-urlencoded',
  'application/javascript',
  'application/x-javascript',
  'application/ecmascript',
])

/** Types whose body is text for people: text/*, JSON, XML, form and JavaScript types. */
export function isText(essence: string): boolean {
  return isJson(essence) || essence.startsWith('text/') || essence.endsWith('+xml') || TEXT_TYPES.has(essence)
}

const EMPTY = Buffer.alloc(0)
const ARRIVES_WITHIN_MS = 60_000
// Whoever is silent for so long in the middle of a body has gone, or means harm.
const SILENT_MS = 15_000

export interface BodyRules {
  maxBytes: number
  budget: BodyBudget
  /** Awaited before more is read than a small body has; where it fails, so does the reading. */
  beforeLarge?: () => Promise<void>
}

/**
 * The whole body of a request, bounded: a declared length above `maxBytes` is refused before a byte is read, a longer
 * stream as soon as it goes beyond. Failures: body_too_large, unsupported_media_type (a content encoding),
 * request_timeout after a minute or a long silence, too_many_bodies, malformed_request when the client went away half
 * way, and what the exchange is abandoned with.
 */
export async function readBody(exchange: Exchange, rules: BodyRules): Promise<Buffer> {
  const { incoming } = exchange
  const { headers } = incoming
  requirePlain(incoming)
  const declared = headers['content-length']
  if (declared === undefined && headers['transfer-encoding'] === undefined) return EMPTY
  if (declared !== undefined && Number(declared) > rules.maxBytes) throw bodyTooLarge(rules.maxBytes)
  if (declared === '0') return EMPTY
  if (!(Number(declared) > SMALL_BODY_BYTES)) return await exchange.settle(collect(exchange, rules))
  await rules.beforeLarge?.()
  return await exchange.settle(collect(exchange, { ...rules, beforeLarge: undefined }))
}

/** Failure unsupported_media_type for a body with a content encoding. */
export function requirePlain({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity')
    throw unsupportedMediaType('Bodies with a Content-Encoding are not accepted')
}

function collect(exchange: Exchange, { maxBytes, budget, beforeLarge }: BodyRules): Promise<Buffer> {
  const { incoming } = exchange
  return new Promise((resolve, reject) => {
    const pieces = new BodyPieces()
    const latestMs = performance.now() + ARRIVES_WITHIN_MS
    let arriving: ArrivingBody | undefined
    let state: 'reading' | 'asking' | 'over' = 'reading'
    const silence = setTimeout(() => {
      if (state === 'asking') silence.refresh()
      else fail(requestTimeout())
    }, SILENT_MS)
    const finish = () => {
      state = 'over'
      clearTimeout(silence)
      arriving?.end()
      incoming.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone)
    }
    const fail = (failure: Failure) => {
      finish()
      reject(failure)
    }
    const onData = (piece: Buffer) => {
      const length = pieces.length + piece.length
      if (length > maxBytes) return fail(bodyTooLarge(maxBytes))
      if (pieces.length > 0 && performance.now() > latestMs) return fail(requestTimeout())
      silence.refresh()
      try {
        if (length > SMALL_BODY_BYTES) {
          if (arriving === undefined) becomeLarge()
          arriving?.add(piece.length)
        }
        budget.take(exchange, piece.length, length > SMALL_BODY_BYTES)
      } catch (error) {
        return fail(asFailure(error))
      }
      pieces.add(piece)
    }
    const becomeLarge = () => {
      arriving = budget.arriving(exchange)
      if (beforeLarge === undefined) return
      incoming.pause()
      state = 'asking'
      beforeLarge().then(
        () => {
          if (state === 'over') return
          state = 'reading'
          silence.refresh()
          incoming.resume()
        },
        (error: unknown) => {
          if (state !== 'over') fail(asFailure(error))
        },
      )
    }
    const onEnd = () => {
      try {
        budget.whole(exchange)
      } catch (error) {
        return fail(asFailure(error))
      }
      finish()
      resolve(pieces.whole())
    }
    const onGone = (error?: Error) => {
      finish()
      reject(malformedRequest('The request body ended early', error))
    }
    incoming.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
    if (incoming.destroyed) onGone()
  })
}

// A piece has a cost of its own beside its bytes, and a client may send its body byte by byte.
const SMALL_PIECE_BYTES = 2048
const PAGE_BYTES = 32 * 1024

/** The pieces of a body as they come; small ones are copied together. */
class BodyPieces {
  readonly #pieces: Buffer[] = []
  #page: Buffer | undefined
  #pageUsed = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Buffer): void {
    this.#length += piece.length
    // Most bodies are one piece.
    if (piece.length > SMALL_PIECE_BYTES || this.#length === piece.length) {
      this.#closePage()
      this.#pieces.push(piece)
      return
    }
    if (this.#page === undefined || this.#pageUsed + piece.length > this.#page.length) {
      this.#closePage()
      this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES)
    }
    this.#pageUsed += piece.copy(this.#page, this.#pageUsed)
  }

  /** The body; ends the use of this. */
  whole(): Buffer {
    this.#closePage()
    return this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces, this.#length)
  }

  #closePage(): void {
    if (this.#page !== undefined && this.#pageUsed > 0) this.#pieces.push(this.#page.subarray(0, this.#pageUsed))
    this.#page = undefined
    this.#pageUsed = 0
  }
}

// Whoever sends less than this in a minute, of what is waited for, is no upload that goes on.
const WINDOW_MS = 60_000
const WINDOW_BYTES = 64 * 1024

/**
 * The body of a request as it comes, read only as fast as it is asked for. Leaves the connection open when its reader
 * stops early, so that there can be an answer. Failures: body_too_large (before a byte where the length is declared),
 * request_timeout for a body that hardly comes, malformed_request when the client went away half way.
 */
export async function* bodyStream(incoming: IncomingMessage, maxBytes: number): AsyncGenerator<Uint8Array> {
  if (Number(incoming.headers['content-length']) > maxBytes) throw bodyTooLarge(maxBytes)
  const pieces = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>
  const window = { waitedMs: 0, bytes: 0 }
  try {
    for (let size = 0; ;) {
      const askedAt = performance.now()
      const next = await arrival(pieces, WINDOW_MS - window.waitedMs)
      if (next.done === true) return
      size += next.value.byteLength
      if (size > maxBytes) throw bodyTooLarge(maxBytes)
      window.waitedMs += performance.now() - askedAt
      window.bytes += next.value.byteLength
      if (window.bytes >= WINDOW_BYTES) window.waitedMs = window.bytes = 0
      yield next.value
    }
  } finally {
    // As long as it waits nobody else can read what is left.
    void pieces.return?.()
  }
}

async function arrival(pieces: AsyncIterator<Uint8Array>, withinMs: number): Promise<IteratorResult<Uint8Array>> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(requestTimeout()), Math.max(withinMs, 0))
  const next = pieces.next().catch((error: unknown) => {
    throw malformedRequest('The request body ended early', error)
  })
  try {
    return await Promise.race([next, late])
  } finally {
    clearTimeout(timer)
    next.catch(() => undefined)
  }
}
