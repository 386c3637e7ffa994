import {
  constants,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { Failure } from '@automation/errors'
import { endingHeaders } from '@automation/rpc/failure-trailer'
import { begin, end, refuseCall } from './grpc-answers.ts'

/** Passes a call on to a daemon and its answer back, frame by frame, each direction as fast as its reader takes it. */
export function forwardCall(stream: ServerHttp2Stream, onward: ClientHttp2Stream): void {
  const trailers = Promise.withResolvers<IncomingHttpHeaders | undefined>()
  onward.on('error', () => undefined) // `close` follows
  onward.on('trailers', (headers) => trailers.resolve(headers))
  onward.on('close', () => {
    trailers.resolve(undefined)
    // Not answered at all: the connection could not be made, or broke.
    if (!stream.headersSent) refuseCall(stream, unreachable())
    // A pipe ends only what it has read to the end, and a connection that is reset has none.
    else if (!stream.writableEnded) stream.end()
  })
  onward.on('response', (headers, flags) => {
    const whole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
    const begun = begin(stream, passed(headers, ':status'), whole ? { endStream: true } : { waitForTrailers: true })
    if (!begun) return onward.close(constants.NGHTTP2_CANCEL)
    if (whole) return
    stream.on('wantTrailers', () => void trailers.promise.then((found) => endWith(stream, found)))
    onward.pipe(stream)
  })
  // A caller that has gone, or has had its whole answer, sends nothing more.
  stream.on('close', () => onward.close(constants.NGHTTP2_CANCEL))
  stream.on('aborted', () => {
    onward.close(constants.NGHTTP2_CANCEL)
    // Its `close` would wait for what nobody reads any more. Not at once: a reset of our own is still to be sent.
    setImmediate(() => stream.destroy())
  })
  stream.pipe(onward)
}

/** The headers of a call as they are passed on to the daemon. */
export function callHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return { ...passed(headers, ':method', ':path'), ':scheme': 'http', ':authority': 'sandbox' }
}

function endWith(stream: ServerHttp2Stream, trailers: IncomingHttpHeaders | undefined): void {
  end(stream, trailers === undefined ? endingHeaders(unreachable()) : passed(trailers))
}

/** What belongs to one connection alone; HTTP/2 refuses to send most of them, but not to receive them. */
const ofConnection = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

function passed(headers: IncomingHttpHeaders, ...pseudo: string[]): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name, value]) => {
    if (name.startsWith(':')) return pseudo.includes(name)
    return !ofConnection.has(name) && (name !== 'te' || value === 'trailers')
  })
  return Object.fromEntries(kept)
}

function unreachable(): Failure {
  return new Failure('unavailable', 'sandbox_unreachable', 'The sandbox does not answer')
}
