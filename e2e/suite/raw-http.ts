import { connect } from 'node:net'

export interface RawAnswer {
  /** 0 where the connection was closed without an answer. */
  status: number
  head: string
  body: string
}

/**
 * Writes bytes to a socket as they are and gives the first answer, or status 0 when the other side just closes.
 * Resolves after `timeoutMs` with what has come by then.
 */
export function sendRaw(host: string, bytes: string | Uint8Array, timeoutMs = 20_000): Promise<RawAnswer> {
  const { hostname, port } = new URL(host)
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    const done = () => {
      socket.destroy()
      resolve(parse(received))
    }
    const timer = setTimeout(done, timeoutMs)
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text
      if (isWhole(received)) socket.end()
    })
    socket.on('error', () => undefined) // a reset is an answer too: `close` follows
    socket.on('close', () => {
      clearTimeout(timer)
      done()
    })
  })
}

function parse(received: string): RawAnswer {
  const end = received.indexOf('\r\n\r\n')
  const head = end === -1 ? received : received.slice(0, end)
  const body = end === -1 ? '' : Buffer.from(received.slice(end + 4), 'latin1').toString('utf8')
  return { status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0), head, body }
}

function isWhole(received: string): boolean {
  const end = received.indexOf('\r\n\r\n')
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, end))?.[1]
  return end !== -1 && length !== undefined && received.length >= end + 4 + Number(length)
}
