import { Agent, request } from 'node:http'
import type { OutgoingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Attempt, Reply } from './judge.ts'

const mostTimes = 3

/** Sends attempts as they are, over few connections that are kept, or over a socket of its own. */
export class Sender {
  readonly #agent: Agent
  readonly #host: URL

  constructor(host: string, connections: number) {
    this.#host = new URL(host)
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  /** What is answered 503 `unavailable`, on a machine that is short of time, is sent again as the answer asks. */
  async send(attempt: Attempt): Promise<Reply> {
    if (attempt.raw !== undefined) return this.#sendRaw(attempt.raw, attempt.fault === 'broken off' ? 40 : 400)
    let reply = await this.#sendRequest(attempt)
    for (let times = 1; times < mostTimes && isUnavailable(reply); times++) {
      await setTimeout(Number(reply.headers['retry-after'] ?? 0) * 1000)
      reply = await this.#sendRequest(attempt)
    }
    return reply
  }

  close(): void {
    this.#agent.destroy()
  }

  #sendRequest(attempt: Attempt, again = false): Promise<Reply> {
    const { method, path, headers, body } = attempt
    const { hostname, port } = this.#host
    const { promise, resolve } = Promise.withResolvers<Reply>()
    const closed: Reply = { status: 0, headers: {}, text: '' }
    const target = {
      hostname,
      port,
      method,
      path: encodeStray(path),
      headers: fit(headers, body),
      agent: again ? false : this.#agent,
      timeout: 20_000,
    }
    const outgoing = request(target, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
      response.on('error', () => resolve(closed))
    })
    outgoing.on('error', () => {
      // A kept connection may just have been given up by the other side: once more, on one of its own.
      if (outgoing.reusedSocket && !again) resolve(this.#sendRequest(attempt, true))
      else resolve(closed)
    })
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.end(body)
    return promise
  }

  #sendRaw(bytes: string | Uint8Array, waitMs: number): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>()
    const chunks: Buffer[] = []
    const socket = connect(Number(this.#host.port), this.#host.hostname, () => socket.write(bytes))
    const timer = globalThis.setTimeout(() => socket.destroy(), waitMs)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => undefined) // a reset is an end like any other: `close` follows
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(parseReply(Buffer.concat(chunks).toString('utf8')))
    })
    return promise
  }
}

function isUnavailable({ status, text }: Reply): boolean {
  return status === 503 && text.includes('"code":"unavailable"')
}

function fit(headers: Attempt['headers'], body: Attempt['body']): OutgoingHttpHeaders {
  return body === undefined ? headers : { 'content-length': Buffer.byteLength(body), ...headers }
}

/** Characters that may not stand in a request line go out percent-encoded, everything else as it is. */
function encodeStray(path: string): string {
  return path.replaceAll(/[^\u0021-\u007e]/g, encodeURIComponent)
}

function parseReply(text: string): Reply {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const lines = head.split('\r\n').slice(1)
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':')[0]?.toLowerCase() ?? '', line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0), headers, text: rest.join('\r\n\r\n') }
}
