import type { IncomingMessage } from 'node:http'
import { bodyTooLarge, malformedRequest, requestTimeout, unsupportedMediaType } from './refusals.ts'

const EMPTY = Buffer.alloc(0)
const ARRIVES_WITHIN_MS = 60_000

/**
 * The whole body of a request, bounded: a declared length above `maxBytes` is refused before a byte is read, a longer
 * stream as soon as it goes beyond. Failures: body_too_large, unsupported_media_type (a content encoding),
 * request_timeout after a minute, and malformed_request when the client went away half way.
 */
export async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { headers } = incoming
  requirePlain(incoming)
  const declared = headers['content-length']
  if (declared === undefined && headers['transfer-encoding'] === undefined) return EMPTY
  if (declared !== undefined && Number(declared) > maxBytes) throw bodyTooLarge(maxBytes)
  if (declared === '0') return EMPTY
  return await collect(incoming, maxBytes)
}

/** Failure unsupported_media_type for a body with a content encoding. */
export function requirePlain({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity')
    throw unsupportedMediaType('Bodies with a Content-Encoding are not accepted')
}

function collect(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const late = setTimeout(() => {
      finish()
      reject(requestTimeout())
    }, ARRIVES_WITHIN_MS)
    const finish = () => {
      clearTimeout(late)
      incoming.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone)
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      chunks.push(chunk)
      if (length <= maxBytes) return
      finish()
      reject(bodyTooLarge(maxBytes))
    }
    const onEnd = () => {
      finish()
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length))
    }
    const onGone = (error?: Error) => {
      finish()
      reject(malformedRequest('The request body ended early', error))
    }
    incoming.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
    if (incoming.destroyed) onGone()
  })
}
