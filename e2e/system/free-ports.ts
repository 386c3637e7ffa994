import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that systems give to outgoing connections: what is free now is not taken by one of those before it
// is listened on, nor while a system is stopped and started again.
const first = 12_000
const last = 29_999

/** So many loopback ports that nobody listens on now. */
export async function freePorts(count: number): Promise<number[]> {
  const held = new Map<number, () => Promise<unknown>>()
  while (held.size < count) {
    const port = first + Math.floor(Math.random() * (last - first + 1))
    if (held.has(port)) continue
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false, // somebody has it
    )
    if (isFree) held.set(port, () => once(server.close(), 'close'))
  }
  await Promise.all([...held.values()].map((release) => release()))
  return [...held.keys()]
}
