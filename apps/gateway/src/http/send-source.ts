import type { ServerResponse } from 'node:http'
import { asFailure, type Failure } from '@automation/errors'
import type { AnswerHeaders, Exchange } from './exchange.ts'

/**
 * Writes an answer piece by piece, as fast as the client takes it. A failure before the first piece is thrown; a later
 * one cuts the connection, which tells the client that this is not all, and is told to `report`.
 */
export async function sendSource(
  exchange: Exchange,
  { status, headers }: { status: number; headers: AnswerHeaders },
  source: AsyncIterable<Uint8Array>,
  report: (failure: Failure, exchange: Exchange) => void,
): Promise<void> {
  const { outgoing } = exchange
  const pieces = source[Symbol.asyncIterator]()
  try {
    let next = await pieces.next()
    if (outgoing.destroyed) return
    outgoing.writeHead(status, headers)
    for (; next.done !== true && !outgoing.destroyed; next = await pieces.next())
      if (!outgoing.write(next.value)) await drained(outgoing)
    outgoing.end()
  } catch (error) {
    if (!outgoing.headersSent) throw error
    if (!outgoing.destroyed) report(asFailure(error), exchange)
    outgoing.destroy()
  } finally {
    // Not awaited: it may wait for something of its own.
    pieces.return?.()?.catch(() => undefined)
  }
}

/** Asks for the first piece of a source and no more: it fails as that piece does. */
export async function beginSource(source: AsyncIterable<Uint8Array>): Promise<void> {
  const pieces = source[Symbol.asyncIterator]()
  try {
    await pieces.next()
  } finally {
    // Not awaited: it may wait for something of its own.
    pieces.return?.()?.catch(() => undefined)
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    outgoing.on('drain', done).on('close', done)
    if (outgoing.destroyed) done()
  })
}
