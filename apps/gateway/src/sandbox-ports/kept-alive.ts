import type { Http2Session } from 'node:http2'

/** How a session is watched: pings, and an end when it is idle. */
export interface Watch {
  pingMs: number
  /** Without a stream for so long it is closed. */
  idleMs: number
}

/**
 * Closes a session whose other side answers no ping within `pingMs`, or that nobody has used for `idleMs`. `used` is to be
 * called with each stream.
 */
export function keptAlive(session: Http2Session, { pingMs, idleMs }: Watch): { used(stream: ClosingStream): void } {
  let open = 0
  let idleSince = performance.now()
  let answered = true
  const timer = setInterval(() => {
    if (open === 0 && performance.now() - idleSince >= idleMs) return session.close()
    if (!answered) return session.destroy()
    answered = false
    session.ping((error) => (answered = error === null))
  }, pingMs).unref()
  session.once('close', () => clearInterval(timer))
  return {
    used: (stream) => {
      open++
      stream.once('close', () => {
        open--
        idleSince = performance.now()
      })
    },
  }
}

interface ClosingStream {
  once(event: 'close', listener: () => void): unknown
}
