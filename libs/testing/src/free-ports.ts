import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that systems give to outgoing connections: what is free now is not taken by one of those before it
// is listened on, nor while a system is stopped and started again. The first 2,000 are for those that nobody names.
const first = 14_000
const span = 2_000
const spans = 8 // up to 29,999
// Workers of a suite, threads or children of one process, start systems at the same moment: none takes from another's.
const mine = (process.ppid + Number(process.env['VITEST_POOL_ID'] ?? 0)) % spans
// One behind the other: who was given one may not listen there yet when the next is asked for.
let next = Math.floor(Math.random() * span)

/** So many loopback ports that nobody listens on now, and that no outgoing connection takes. */
export async function freePorts(count: number): Promise<number[]> {
  const held = new Map<number, () => Promise<unknown>>()
  while (held.size < count) {
    const port = first + mine * span + (next++ % span)
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
