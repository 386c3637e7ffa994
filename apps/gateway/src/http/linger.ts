import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** How long a connection is read on after its last answer. */
export const LINGER_MS = 1_000
const LINGER_BYTES = 16 * 1024 * 1024

/**
 * Reads away what is left of a request that was answered before its end, for a moment: a connection closed at once would
 * be reset and the answer lost. A client that goes on is cut off. To be called before Node hears that the answer is
 * finished: a connection that it would close then is only closed for what we send, as its client waits for that, and cut
 * when the request has come. `ended` is called when this is over.
 */
export function linger(incoming: IncomingMessage, ended: () => void): void {
  const { socket } = incoming
  let bytes = 0
  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    incoming.off('data', onData).off('end', end)
    socket.off('close', end)
    socket.destroySoon = Socket.prototype.destroySoon
    // With its socket; whoever still waits for the rest is told, which Node does not do once there is an answer.
    if (!incoming.complete) incoming.destroy()
    else if (socket.writableEnded) socket.destroy()
    ended()
  }
  // After a stall timers run before sockets are read: what has arrived meanwhile counts.
  const timer = setTimeout(() => setImmediate(end), LINGER_MS)
  const onData = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > LINGER_BYTES) end()
  }
  // What Node closes a connection by.
  socket.destroySoon = () => void socket.end()
  socket.on('close', end)
  incoming.on('data', onData).on('end', end)
  incoming.resume()
}
