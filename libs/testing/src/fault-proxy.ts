import { connect, createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/** Stands between a service and its database, or another server of TCP, and misbehaves when told to. */
export class FaultProxy {
  readonly url: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #mode: 'open' | 'refusing' | 'frozen' = 'open'
  /** Bytes from the database are dropped, and the connection is cut, once this matches what was sent to it. */
  #dropAnswerTo: ((sent: Buffer) => boolean) | undefined
  #drop: ((sent: Buffer) => boolean) | undefined
  #hold: { matches(sent: Buffer): boolean; until: Promise<unknown> } | undefined

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  static async start(target: string): Promise<FaultProxy> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = new URL(target)
    const socketDir = url.searchParams.get('host')
    const port = Number(url.port || 5432)
    const to = socketDir?.startsWith('/') ? { path: `${socketDir}/.s.PGSQL.${port}` } : { host: url.hostname, port }
    url.searchParams.delete('host')
    url.hostname = '127.0.0.1'
    url.port = String((server.address() as AddressInfo).port)
    const proxy = new FaultProxy(server, url.href)
    server.on('connection', (socket) => proxy.#pass(socket, connect(to as { host: string; port: number })))
    return proxy
  }

  /** The database is away: connections are cut, new ones refused. */
  refuse(): void {
    this.#mode = 'refusing'
    for (const socket of this.#sockets) socket.destroy()
  }

  /** The database says nothing any more. */
  freeze(): void {
    this.#mode = 'frozen'
    for (const socket of this.#sockets) socket.pause()
  }

  open(): void {
    const wasFrozen = this.#mode === 'frozen'
    this.#mode = 'open'
    if (wasFrozen) for (const socket of this.#sockets) socket.resume()
  }

  /** The next statement that matches is carried out, but its answer never arrives: its outcome is unknown. */
  loseAnswerTo(matches: (sent: Buffer) => boolean): void {
    this.#dropAnswerTo = matches
  }

  /** The next statement that matches never arrives, and its connection is cut. */
  lose(matches: (sent: Buffer) => boolean): void {
    this.#drop = matches
  }

  /** The next statement that matches arrives only when this has settled. */
  hold(matches: (sent: Buffer) => boolean, until: Promise<unknown>): void {
    this.#hold = { matches, until }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #pass(client: Socket, database: Socket): void {
    let lost = false
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
      if (this.#mode === 'frozen') socket.pause()
    }
    if (this.#mode === 'refusing') client.destroy()
    client.on('data', (sent) => {
      if (this.#dropAnswerTo?.(sent as Buffer)) {
        this.#dropAnswerTo = undefined
        lost = true
      }
      if (this.#drop?.(sent as Buffer)) {
        this.#drop = undefined
        client.destroy()
        return
      }
      if (this.#hold?.matches(sent as Buffer)) {
        const { until } = this.#hold
        this.#hold = undefined
        void until.finally(() => database.write(sent)).catch(() => undefined)
        return
      }
      database.write(sent)
    })
    database.on('data', (answer) => {
      if (lost) client.destroy()
      else client.write(answer)
    })
  }
}
