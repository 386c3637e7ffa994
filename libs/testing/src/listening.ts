import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

/** A server on a free port of loopback. */
export interface Listening {
  port: number
  /** `http://127.0.0.1:…` */
  url: string
  /** Cuts all connections; it may be closed more than once. */
  close: () => Promise<void>
}

/** Lets a server listen on a free port of loopback; it may be one of TCP, HTTP or HTTP/2. */
export async function listening(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  return { port, url: `http://127.0.0.1:${port}`, close }
}
