import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { ConnectPortRequest, ConnectPortResponse } from '@automation/contract/sandbox/v1/daemon'
import { Failure, invalid } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import { PortSocket } from './port-socket.ts'

type Response = Partial<Pick<ConnectPortResponse, 'data' | 'end'>>

const loopbacks = ['127.0.0.1', '::1']

/** Carries bytes between a call and a port of the sandbox; each direction ends by itself. */
export async function* connectPort(
  requests: AsyncIterable<ConnectPortRequest>,
  { signal }: CallContext,
): AsyncGenerator<Response> {
  const incoming = requests[Symbol.asyncIterator]()
  const { value: first } = (await incoming.next()) as IteratorResult<ConnectPortRequest, undefined>
  const socket = await opened(first?.port)
  // Before anything is waited for: the port may break the connection at once.
  const received = socket.received()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const cut = () => socket.destroy()
  signal.addEventListener('abort', cut, { once: true })
  if (signal.aborted) cut()
  const sending = send(first!.data, incoming, socket)
  try {
    yield {}
    for await (const data of received) yield { data }
    yield { end: true }
    await Promise.race([sending, closed, socket.refused])
  } catch {
    throw new Failure('unavailable', 'port_reset', 'The port broke the connection')
  } finally {
    signal.removeEventListener('abort', cut)
    cut()
  }
}

async function opened(port: number | undefined): Promise<PortSocket> {
  if (port === undefined || port < 1 || port > 65_535) throw invalid('/port', 'must be a port from 1 to 65535')
  for (const host of loopbacks) {
    const socket = new PortSocket().connect(port, host).setNoDelay()
    try {
      await once(socket, 'connect')
      // Whoever reads or writes hears of an error; between the two nobody listens.
      socket.on('error', () => undefined)
      return socket
    } catch {
      // The other address may be the one.
    }
  }
  throw new Failure('unavailable', 'port_closed', 'Nobody listens on this port')
}

/** Writes what the caller sends, as fast as the port takes it. Never throws: a broken socket ends the reading, too. */
async function send(first: Uint8Array, incoming: AsyncIterator<ConnectPortRequest>, socket: Socket): Promise<void> {
  try {
    if (first.length > 0) await write(first, socket)
    for (let next = await incoming.next(); !next.done; next = await incoming.next())
      if (next.value.data.length > 0) await write(next.value.data, socket)
    socket.end()
  } catch (error) {
    socket.destroy(error as Error)
  }
}

async function write(data: Uint8Array, socket: Socket): Promise<void> {
  if (socket.destroyed || socket.write(data)) return
  await new Promise<void>((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}
