import { connect, type Socket } from 'node:net'

export interface Answer {
  status: number
  /** The header lines as they came. */
  head: string
  body: string
}

/**
 * One keep-alive HTTP/1.1 connection, one request at a time. Much lighter than a general client, so that the load
 * generator takes little from the machine that it measures.
 */
export class Connection {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the server closed the connection')))
  }

  static open(host: string, port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, host, () => {
        socket.off('error', reject)
        resolve(new Connection(socket))
      })
      socket.once('error', reject)
    })
  }

  /** Sends the bytes of a whole request and answers what came back. */
  send(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const parsed = parseAnswer(this.#received)
    if (parsed === undefined) return
    this.#received = this.#received.subarray(parsed.length)
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve(parsed.answer)
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }
}

/** The answer at the start of the bytes and how many of them it takes; undefined while some are missing. */
export function parseAnswer(bytes: Buffer): { answer: Answer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const status = Number(head.slice(9, 12))
  const start = headEnd + 4
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    const chunks = parseChunks(bytes, start)
    return chunks && { answer: { status, head, body: chunks.body }, length: chunks.end }
  }
  const end = start + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  if (bytes.length < end) return undefined
  return { answer: { status, head, body: bytes.toString('utf8', start, end) }, length: end }
}

function parseChunks(bytes: Buffer, start: number): { body: string; end: number } | undefined {
  const parts: Buffer[] = []
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const next = lineEnd + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return { body: Buffer.concat(parts).toString('utf8'), end: next }
    parts.push(bytes.subarray(lineEnd + 2, next - 2))
    at = next
  }
}

/** The value of a header of an answer, or undefined. */
export function headerOf({ head }: Answer, name: string): string | undefined {
  const line = head.split('\r\n').find((candidate) => candidate.toLowerCase().startsWith(`${name.toLowerCase()}:`))
  return line?.slice(name.length + 1).trim()
}
