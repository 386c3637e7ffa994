import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  url: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
}

/** A receiver of callbacks on this machine; answers 204 unless it is told otherwise. */
export class Receiver {
  readonly received: Received[] = []
  readonly #server: Server
  answer: (response: ServerResponse, received: Received) => void = (response) => response.writeHead(204).end()

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>
        const received = { url: request.url ?? '', headers: request.headers, body }
        this.received.push(received)
        this.answer(response, received)
      })
    })
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  /** With a path of the receiver's own. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook?token=t0k3n`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
