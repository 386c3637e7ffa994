import { once } from 'node:events'
import { createServer } from 'node:net'
import { notStarted } from './launch.ts'

// Below the ports that systems give to outgoing connections: one of those would keep a server from its port while it
// is started, or started again.
const first = 12_000
const last = 13_999

/** A loopback port that nobody listens on now. Throws where none can be listened on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first + 1))
    const probe = createServer().listen(port, '127.0.0.1')
    const isFree = await once(probe, 'listening').then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE')
          throw notStarted(
            `it listens on 127.0.0.1, and nothing can here (${error.message}). Add 127.0.0.1 to the loopback interface, or set DATABASE_URL to a server of your own`,
            error,
          )
        return false
      },
    )
    if (!isFree) continue
    await once(probe.close(), 'close')
    return port
  }
}
