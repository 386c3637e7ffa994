import type { IncomingMessage } from 'node:http'
import { bodyTooLarge, malformedRequest, requestTimeout } from './refusals.ts'

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
