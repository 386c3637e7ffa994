import {
  constants,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from 'node:http2'
import type { Failure } from '@automation/errors'
import { endingHeaders } from '@automation/rpc/failure-trailer'

const contentType = { 'content-type': 'application/grpc' }

/**
 * Begins the answer of a call. False when that can't be: its caller has gone, or the headers are none that HTTP/2 has, and
 * then the call has ended.
 */
export function begin(
  stream: ServerHttp2Stream,
  headers: OutgoingHttpHeaders,
  options: ServerStreamResponseOptions,
): boolean {
  // A stream that its caller has reset is closed before it is destroyed, when something of it is still unread.
  return attempted(stream, () => stream.respond(headers, options))
}

/** Ends an answer that waits for its trailers. */
export function end(stream: ServerHttp2Stream, trailers: OutgoingHttpHeaders): void {
  attempted(stream, () => stream.sendTrailers(trailers))
}

function attempted(stream: ServerHttp2Stream, send: () => void): boolean {
  if (stream.destroyed || stream.closed) return false
  try {
    send()
    return true
  } catch {
    // What is answered comes from outside; its caller is told by the code.
    stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    return false
  }
}

/** Ends a call with a failure, whatever has been answered to it already. */
export function refuseCall(stream: ServerHttp2Stream, failure: Failure): void {
  if (stream.destroyed || stream.closed) return
  if (stream.headersSent) return stream.close(constants.NGHTTP2_CANCEL)
  stream.resume()
  begin(stream, { ':status': 200, ...contentType, ...endingHeaders(failure) }, { endStream: true })
}

const lingerMs = 1000

/**
 * Ends a stream whose caller goes on sending after its whole answer; not at once, as that would overtake the answer.
 */
export function endLate(stream: ServerHttp2Stream): void {
  stream.once('finish', () => {
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), lingerMs)
    stream.once('close', () => clearTimeout(timer))
  })
}

/** SERVING, as a HealthCheckResponse in the frame of gRPC. */
const serving = Buffer.from([0, 0, 0, 0, 2, 0x08, 0x01])

/** Answers grpc.health.v1 for the gateway itself: `Check` at once, `Watch` until its caller goes. */
export function answerHealth(stream: ServerHttp2Stream, method: string): void {
  stream.resume()
  if (!begin(stream, { ':status': 200, ...contentType }, { waitForTrailers: true })) return
  stream.on('wantTrailers', () => end(stream, { 'grpc-status': '0' }))
  stream.write(serving)
  if (method !== 'Watch') stream.end()
}
