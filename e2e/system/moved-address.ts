import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/** An address of PostgreSQL that can be turned over from one server to another, as a DNS name or a virtual address is. */
export class MovedAddress {
  readonly url: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #port: number | undefined

  private constructor(server: Server) {
    this.#server = server
    this.url = `postgresql://postgres@127.0.0.1:${(server.address() as AddressInfo).port}/postgres`
    server.on('connection', (socket) => this.#pass(socket))
  }

  static async open(): Promise<MovedAddress> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new MovedAddress(server)
  }

  /** Cuts all connections; what comes then gets to the server of this URL, or nowhere. */
  turnTo(url: string | undefined): void {
    this.#port = url === undefined ? undefined : Number(new URL(url).port)
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.turnTo(undefined)
    await once(this.#server.close(), 'close')
  }

  #pass(from: Socket): void {
    if (this.#port === undefined) return void from.destroy()
    const to = connect(this.#port, '127.0.0.1')
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  }
}
