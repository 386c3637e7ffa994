import { connect, createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

type Target = { path: string } | { host: string; port: number }

/** Stands between a service and its database, or another server of TCP, and misbehaves when told to. */
export class FaultProxy {
  readonly url: string
  /** Of all that the database has answered. */
  answeredBytes = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: Target | undefined
  #mode: 'open' | 'refusing' | 'frozen' = 'open'
  #latencyMs = 0
  /** Bytes from the database are dropped, and the connection is cut, once this matches what was sent to it. */
  #dropAnswerTo: ((sent: Buffer) => boolean) | undefined
  #drop: ((sent: Buffer) => boolean) | undefined
  readonly #holds = new Set<{ matches(sent: Buffer): boolean; until: Promise<unknown> }>()

  private constructor(server: Server, url: string, target: Target) {
    this.#server = server
    this.url = url
    this.#target = target
  }

  static async start(target: string): Promise<FaultProxy> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = new URL(target)
    const to = targetOf(url)
    url.searchParams.delete('host')
    url.hostname = '127.0.0.1'
    url.port = String((server.address() as AddressInfo).port)
    const proxy = new FaultProxy(server, url.href, to)
    server.on('connection', (socket) => proxy.#accept(socket))
    return proxy
  }

  /** Cuts all connections; what comes then gets to the server of this URL, or nowhere: as a DNS name that is moved. */
  turnTo(target: string | undefined): void {
    this.#target = target === undefined ? undefined : targetOf(new URL(target))
    this.#cut()
  }

  /** The database is away: connections are cut, new ones refused. */
  refuse(): void {
    this.#mode = 'refusing'
    this.#cut()
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

  /** From now on all bytes arrive so much later, in both directions; 0: at once. */
  delayBy(latencyMs: number): void {
    this.#latencyMs = latencyMs
  }

  /** The next statement that matches is carried out, but its answer never arrives: its outcome is unknown. */
  loseAnswerTo(matches: (sent: Buffer) => boolean): void {
    this.#dropAnswerTo = matches
  }

  /** The next statement that matches never arrives, and its connection is cut. */
  lose(matches: (sent: Buffer) => boolean): void {
    this.#drop = matches
  }

  /** The next statement that matches arrives only when this has settled; may be called for several. */
  hold(matches: (sent: Buffer) => boolean, until: Promise<unknown>): void {
    this.#holds.add({ matches, until })
  }

  async close(): Promise<void> {
    this.#cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #accept(client: Socket): void {
    if (this.#mode === 'refusing' || this.#target === undefined) {
      client.on('error', () => undefined)
      return void client.destroy()
    }
    this.#pass(client, connect(this.#target as { host: string; port: number }))
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
        other.destroySoon()
      })
      if (this.#mode === 'frozen') socket.pause()
    }
    const toDatabase = this.#laneTo(database)
    const toClient = this.#laneTo(client)
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
      for (const hold of this.#holds) {
        if (!hold.matches(sent as Buffer)) continue
        this.#holds.delete(hold)
        client.pause()
        const goOn = () => {
          database.write(sent)
          client.resume()
        }
        void hold.until.then(goOn, goOn)
        return
      }
      toDatabase(sent as Buffer)
    })
    database.on('data', (answer) => {
      this.answeredBytes += answer.length
      if (lost) client.destroy()
      else toClient(answer as Buffer)
    })
  }

  /** Writes in the order of its calls, each as late as the proxy is told then. */
  #laneTo(socket: Socket): (bytes: Buffer) => void {
    const waiting: Buffer[] = []
    let lastDueMs = 0
    return (bytes) => {
      const nowMs = performance.now()
      if (this.#latencyMs === 0 && waiting.length === 0) return void socket.write(bytes)
      lastDueMs = Math.max(lastDueMs, nowMs + this.#latencyMs)
      waiting.push(bytes)
      setTimeout(() => socket.write(waiting.shift()!), lastDueMs - nowMs).unref()
    }
  }
}

function targetOf(url: URL): Target {
  const socketDir = url.searchParams.get('host')
  const port = Number(url.port || 5432)
  return socketDir?.startsWith('/') ? { path: `${socketDir}/.s.PGSQL.${port}` } : { host: url.hostname, port }
}
