import type { IncomingMessage } from 'node:http'

const LINGER_MS = 1_000
const LINGER_BYTES = 16 * 1024 * 1024

/**
 * Reads away what is left of a request that was answered before its end, for a moment: a connection closed at once would
 * be reset and the answer lost. A client that goes on is cut off.
 */
export function linger(incoming: IncomingMessage): void {
  if (incoming.complete || incoming.destroyed) return
  let bytes = 0
  const cut = () => {
    stop()
    incoming.socket.destroySoon()
  }
  // After a stall timers run before sockets are read: what has arrived meanwhile counts.
  const timer = setTimeout(() => setImmediate(() => (incoming.complete ? stop() : cut())), LINGER_MS)
  const onData = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > LINGER_BYTES) cut()
  }
  const stop = () => {
    clearTimeout(timer)
    incoming.off('data', onData).off('end', stop).off('close', stop)
  }
  incoming.on('data', onData).on('end', stop).on('close', stop)
  incoming.resume()
}
