import { constants, type ServerHttp2Stream } from 'node:http2'
import type { Failure } from '@automation/errors'
import { endingHeaders } from '@automation/rpc/failure-trailer'

const contentType = { 'content-type': 'application/grpc' }

/** Ends a call with a failure, whatever has been answered to it already. */
export function refuseCall(stream: ServerHttp2Stream, failure: Failure): void {
  if (stream.destroyed) return
  if (stream.headersSent) return stream.close(constants.NGHTTP2_CANCEL)
  stream.resume()
  stream.respond({ ':status': 200, ...contentType, ...endingHeaders(failure) }, { endStream: true })
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
  if (stream.destroyed) return
  stream.resume()
  stream.respond({ ':status': 200, ...contentType }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.write(serving)
  if (method !== 'Watch') stream.end()
}
