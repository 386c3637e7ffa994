import {
  constants,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { Failure } from '@automation/errors'
import { endingHeaders } from '@automation/rpc/failure-trailer'
import { refuseCall } from './grpc-answers.ts'

/** Passes a call on to a daemon and its answer back, frame by frame, each direction as fast as its reader takes it. */
export function forwardCall(stream: ServerHttp2Stream, onward: ClientHttp2Stream): void {
  const trailers = Promise.withResolvers<IncomingHttpHeaders | undefined>()
  onward.on('error', () => undefined) // `close` follows
  onward.on('trailers', (headers) => trailers.resolve(headers))
  onward.on('close', () => {
    trailers.resolve(undefined)
    // Not answered at all: the connection could not be made, or broke.
    if (!stream.headersSent) refuseCall(stream, unreachable())
  })
  onward.on('response', (headers, flags) => {
    if (stream.destroyed) return
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) {
      stream.respond(passed(headers, ':status'), { endStream: true })
      return
    }
    stream.respond(passed(headers, ':status'), { waitForTrailers: true })
    stream.on('wantTrailers', () => void trailers.promise.then((found) => endWith(stream, found)))
    onward.pipe(stream)
  })
  // A caller that has gone, or has had its whole answer, sends nothing more.
  stream.on('close', () => onward.close(constants.NGHTTP2_CANCEL))
  stream.pipe(onward)
}

/** The headers of a call as they are passed on to the daemon. */
export function callHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return { ...passed(headers, ':method', ':path'), ':scheme': 'http', ':authority': 'sandbox' }
}

function endWith(stream: ServerHttp2Stream, trailers: IncomingHttpHeaders | undefined): void {
  if (stream.destroyed || stream.closed) return
  stream.sendTrailers(trailers === undefined ? endingHeaders(unreachable()) : passed(trailers))
}

function passed(headers: IncomingHttpHeaders, ...pseudo: string[]): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith(':') || pseudo.includes(name))
  return Object.fromEntries(kept)
}

function unreachable(): Failure {
  return new Failure('unavailable', 'sandbox_unreachable', 'The sandbox does not answer')
}
