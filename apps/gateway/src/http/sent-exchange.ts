import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { asFailure } from '@automation/errors'
import { Exchange } from './exchange.ts'

/** A request that the service makes to itself for a caller. */
export interface SentRequest {
  method: string
  /** Path and query, percent-encoded. */
  target: string
  /** As they are sent, each name once. */
  headers: readonly (readonly [name: string, value: string])[]
  body: Buffer
}

/** A request that came on no connection, and is read like any other. */
class SentMessage extends IncomingMessage {
  constructor({ method, target, headers, body }: SentRequest) {
    super(new Socket())
    this.method = method
    this.url = target
    this.httpVersion = '1.1'
    this.httpVersionMajor = this.httpVersionMinor = 1
    this.headers = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]))
    this.complete = true
    this.push(body)
    this.push(null)
  }

  /** All that there is has been pushed. */
  override _read(): void {}
}

/** Why the service makes a request to itself. */
interface Cause {
  exchange: Exchange
  ip: string
  /** Gives the request up; that of the exchange where it is absent. */
  signal?: AbortSignal
}

/**
 * What `work` gives for an exchange of this request, which comes from the address, and in the trace, of the one that it is
 * made for, and is given up together with it.
 */
export async function withSentExchange<T>(
  request: SentRequest,
  cause: Cause,
  work: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const incoming = new SentMessage(request)
  const exchange = new Exchange(incoming, new ServerResponse(incoming))
  exchange.ip = cause.ip
  exchange.traceparent ??= cause.exchange.traceparent
  const { signal = cause.exchange.signal } = cause
  const giveUp = () => exchange.abandon(asFailure(signal.reason))
  signal.addEventListener('abort', giveUp)
  if (signal.aborted) giveUp()
  try {
    return await work(exchange)
  } finally {
    signal.removeEventListener('abort', giveUp)
    exchange.isOver = true
    // What was held for the answer is told that it is over: there is no connection whose end could say so.
    exchange.outgoing.destroy()
    exchange.outgoing.emit('close')
  }
}
