import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** What becomes of a request: its answer is lost, cut, or another one; or the request itself is cut. */
interface Order {
  loseAnswer?: boolean
  /** Bytes of the body. */
  cutAnswerAfter?: number
  cutRequestAfter?: number
  status?: number
  headers?: Record<string, string>
  body?: unknown
}

/** A way to a system that fails as networks and their proxies do. Each order is for one request. */
export class CuttingProxy implements AsyncDisposable {
  /** `METHOD path` of all requests, in their order. */
  readonly requests: string[] = []
  readonly #target: URL
  readonly #orders: { fits: RegExp; order: Order }[] = []
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((incoming, outgoing) => this.#serve(incoming, outgoing))

  private constructor(target: string) {
    this.#target = new URL(target)
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  static async before(target: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** For the next request whose `METHOD path` fits. */
  next(fits: RegExp, order: Order): void {
    this.#orders.push({ fits, order })
  }

  /** Cuts all connections that are open now. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  count(fits: RegExp): number {
    return this.requests.filter((line) => fits.test(line)).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.cut()
    await once(this.#server, 'close')
  }

  #serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const line = `${incoming.method} ${incoming.url}`
    this.requests.push(line)
    const at = this.#orders.findIndex(({ fits }) => fits.test(line))
    const order = at === -1 ? {} : this.#orders.splice(at, 1)[0]!.order
    if (order.status === undefined) return this.#forward(incoming, outgoing, order)
    incoming.resume()
    outgoing.writeHead(order.status, { 'Content-Type': 'application/json', ...order.headers })
    outgoing.end(JSON.stringify(order.body ?? {}))
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse, order: Order): void {
    const { method, url, headers } = incoming
    const onward = request(new URL(url!, this.#target), { method, headers, agent: false }, (answer) => {
      if (order.loseAnswer) return void answer.resume().once('end', () => incoming.socket.resetAndDestroy())
      outgoing.writeHead(answer.statusCode!, answer.headers)
      if (order.cutAnswerAfter !== undefined)
        cutAfter(answer, order.cutAnswerAfter, (piece) => outgoing.write(piece), incoming)
      else answer.pipe(outgoing)
      answer.once('error', () => incoming.socket.destroy())
    })
    onward.once('error', () => incoming.socket.destroy())
    outgoing.once('close', () => onward.destroy())
    if (order.cutRequestAfter !== undefined)
      cutAfter(incoming, order.cutRequestAfter, (piece) => onward.write(piece), incoming)
    else incoming.pipe(onward)
  }
}

function cutAfter(
  stream: IncomingMessage,
  bytes: number,
  pass: (piece: Buffer) => void,
  { socket }: IncomingMessage,
): void {
  let passed = 0
  stream.on('data', (piece: Buffer) => {
    const part = piece.subarray(0, bytes - passed)
    passed += part.length
    if (part.length > 0) pass(part)
    // What was passed is to arrive.
    if (passed >= bytes) setImmediate(() => socket.destroy())
  })
}
