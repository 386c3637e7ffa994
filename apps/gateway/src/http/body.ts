import type { IncomingMessage } from 'node:http'
import { asFailure, type Failure } from '@automation/errors'
import { SMALL_BODY_BYTES, type ArrivingBody, type BodyBudget } from './body-budget.ts'
import { BodyPieces } from './body-pieces.ts'
import type { Exchange } from './exchange.ts'
import { bodyTooLarge, malformedRequest, requestTimeout, unsupportedMediaType } from './refusals.ts'

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
 * request_timeout after a minute or a long silence, too_many_bodies, and malformed_request when the client went away half
 * way.
 */
export async function readBody(exchange: Exchange, rules: BodyRules): Promise<Buffer> {
  const { incoming } = exchange
  const { headers } = incoming
  requirePlain(incoming)
  const declared = headers['content-length']
  if (declared === undefined && headers['transfer-encoding'] === undefined) return EMPTY
  if (declared !== undefined && Number(declared) > rules.maxBytes) throw bodyTooLarge(rules.maxBytes)
  if (declared === '0') return EMPTY
  if (rules.beforeLarge === undefined || !(Number(declared) > SMALL_BODY_BYTES)) return await collect(exchange, rules)
  await rules.beforeLarge()
  return await collect(exchange, { ...rules, beforeLarge: undefined })
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
