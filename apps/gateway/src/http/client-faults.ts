import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Failure } from '@automation/errors'
import type { AnswerHeaders } from './exchange.ts'
import { problemAnswer } from './problem.ts'
import { LINGER_MS } from './linger.ts'
import { malformedRequest, methodNotAllowed, requestTimeout } from './refusals.ts'

/** What Node's parser found wrong with a request, as callers are told. */
export function faultOf(error: NodeJS.ErrnoException): Failure {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Failure('too_large', 'headers_too_large', 'The request headers are larger than 16 KiB')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Failure('too_large', 'body_too_large', 'The chunk extensions of the request are too large')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return requestTimeout()
    case 'HPE_INVALID_URL':
      return malformedRequest(
        'Spaces and letters beyond ASCII in an address must be percent-encoded, as ö by %C3%B6',
        error,
      )
    default:
      return malformedRequest('The request is not valid HTTP', error)
  }
}

/** Answers, on the bare connection, a request that the parser refused, and closes it. */
export function refuseOnSocket(error: NodeJS.ErrnoException, socket: Duplex): void {
  // What comes behind it is refused, too.
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable || hasBegunToAnswer(socket)) {
    socket.destroy()
    return
  }
  writeAndClose(faultOf(error), socket)
}

/** There is no proxy here: CONNECT is refused like any other method that a path does not have. */
export function refuseConnect(socket: Duplex): void {
  const allow = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
  writeAndClose(methodNotAllowed('CONNECT', allow), socket, { Allow: allow })
}

/** Answers, on the bare connection, that there are too many, and closes it. */
export function turnAway(socket: Duplex): void {
  const text = 'There are too many connections; try again in a moment, and use those that you have'
  const failure = new Failure('unavailable', 'too_many_connections', text, { retryAfterS: 2 })
  writeAndClose(failure, socket)
}

/** Reads away what its client is sending, for a moment: a connection closed at once would be reset and the answer lost. */
function writeAndClose(failure: Failure, socket: Duplex, more?: AnswerHeaders): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.on('close', () => clearTimeout(timer))
  socket.on('error', () => socket.destroy())
  socket.end(answerText(failure, more))
  socket.resume()
}

function answerText(failure: Failure, more?: AnswerHeaders): string {
  const occasion = { requestId: crypto.randomUUID(), path: '/', executionIdHeader: '' }
  const { status, headers, body } = problemAnswer(failure, occasion, more)
  const lines = Object.entries({
    ...headers,
    'Content-Length': String(Buffer.byteLength(body as string)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${String(value)}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${String(body)}`
}

/** Whether an answer is on its way: a half-written one can only be cut off. */
export function hasBegunToAnswer(socket: Duplex): boolean {
  return (socket as Duplex & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true
}
