import { request, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Failure } from '@automation/errors'
import type { Exchange } from '../http/exchange.ts'
import { answerHeaders, requestHeaders } from './passed-headers.ts'
import type { PortConnection } from './port-connection.ts'
import type { Admitted } from './public-entry.ts'

const maxHeaderSize = 64 * 1024
const nothing = Buffer.alloc(0)

/**
 * Sends a request on and its answer back, piece by piece. Resolves when the answer is over, or its client gone. Failures:
 * port_failed when the application breaks off or speaks no HTTP, port_timeout when its answer does not begin in time
 * after the last piece of the request.
 */
export function forward(
  exchange: Exchange,
  connection: PortConnection,
  admitted: Admitted,
  answerTimeoutMs: number,
): Promise<void> {
  const { incoming, outgoing } = exchange
  return new Promise((resolve, reject) => {
    const onward = onwardRequest(exchange, connection, admitted)
    const timer = setTimeout(() => fail(late()), answerTimeoutMs)
    let waiting = true
    let answer: IncomingMessage | undefined
    const waited = () => {
      waiting = false
      clearTimeout(timer)
    }
    const fail = (error: unknown) => {
      waited()
      incoming.unpipe(onward)
      // All of it is here, and its client may still be reading: then the rest of the request is read away.
      if (answer?.complete === true) return void incoming.resume()
      onward.destroy()
      connection.destroy()
      // A client that has gone is owed nothing.
      if (outgoing.destroyed) resolve()
      else reject(error instanceof Failure ? error : broken(error))
    }
    onward.on('error', fail)
    connection.on('error', fail)
    onward.on('upgrade', () => fail(new Error('A change of protocol that nobody has asked for')))
    onward.on('response', (response) => {
      waited()
      answer = response
      answer.on('error', fail)
      try {
        beginAnswer(outgoing, answer, admitted)
        // Not flushHeaders, which would write what is not ASCII as UTF-8 once more.
        outgoing.write(nothing)
      } catch (error) {
        return fail(error)
      }
      answer.pipe(outgoing)
    })
    outgoing.on('close', () => {
      waited()
      // What is left of a request that was answered before its end is read away.
      incoming.unpipe(onward).resume()
      onward.destroy()
      resolve()
    })
    incoming.pipe(onward)
    // An upload may take longer than its answer.
    incoming.on('data', () => {
      if (waiting) timer.refresh()
    })
  })
}

/** The request to the application, over a connection of its own. */
export function onwardRequest(
  { incoming }: { incoming: IncomingMessage },
  connection: PortConnection,
  { target, about }: Admitted,
): ClientRequest {
  return request({
    createConnection: () => connection,
    method: incoming.method,
    path: target.rest,
    headers: requestHeaders(incoming, about),
    maxHeaderSize,
  })
}

/** Begins the answer as the application has; throws when no answer can begin so, and leaves it free for another. */
export function beginAnswer(outgoing: ServerResponse, answer: IncomingMessage, { about }: Admitted): void {
  if (answer.statusCode === 101) throw new Error('A change of protocol that names none')
  try {
    outgoing.writeHead(answer.statusCode!, answer.statusMessage, answerHeaders(answer, about))
  } catch (error) {
    outgoing.statusMessage = ''
    throw error
  }
}

/** 504: the application did not answer in time. */
export function late(): Failure {
  return new Failure('deadline_exceeded', 'port_timeout', 'The application in the sandbox did not answer in time')
}

/** 502: the application closed the connection, or gave what is no answer. */
export function broken(cause: unknown): Failure {
  return new Failure('unavailable', 'port_failed', 'The application in the sandbox gave no proper answer', { cause })
}
