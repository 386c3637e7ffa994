import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that systems give to outgoing connections: one of those would keep a server from its port while it
// is started, or started again.
const first = 12_000
const last = 13_999

/** A loopback port that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first + 1))
    const probe = createServer().listen(port, '127.0.0.1')
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false, // somebody has it
    )
    if (!isFree) continue
    await once(probe.close(), 'close')
    return port
  }
}
