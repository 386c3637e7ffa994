import { createServer, type AddressInfo, type Socket } from 'node:net'

/** Frames of HTTP/2 as Node's own client and server refuse to make them; header names and values below 127 bytes. */
export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
export const settings = frame(4, 0, 0, Buffer.alloc(0))

const endOfHeaders = 4
const endOfStream = 1

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A frame of headers, each as a literal that nobody remembers. */
export function headersFrame(stream: number, headers: Record<string, string>, ends: boolean): Buffer {
  const text = (of: string) => Buffer.concat([Buffer.from([of.length]), Buffer.from(of, 'latin1')])
  const fields = Object.entries(headers).map(([name, value]) =>
    Buffer.concat([Buffer.from([0]), text(name), text(value)]),
  )
  return frame(1, endOfHeaders | (ends ? endOfStream : 0), stream, Buffer.concat(fields))
}

/** A server that answers the first call of each connection with frames, and hears nothing else. */
export async function frameServer(
  answer: (stream: number) => Buffer[] | Promise<Buffer[]>,
): Promise<{ address: string; stop(): void; reset(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let heard = Buffer.alloc(0)
    socket.write(settings)
    socket.on('error', () => undefined)
    socket.on('data', (data: string | Buffer) => {
      heard = Buffer.concat([heard, data as Buffer])
      for (let at = preface.length; heard.length >= at + 9; at += 9 + heard.readUIntBE(at, 3))
        if (heard.readUInt8(at + 3) === 1) {
          socket.removeAllListeners('data').resume()
          return void Promise.resolve(answer(heard.readUInt32BE(at + 5))).then((frames) =>
            socket.write(Buffer.concat(frames)),
          )
        }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const end = (how: 'destroy' | 'resetAndDestroy') => {
    for (const socket of sockets) socket[how]()
    server.close()
  }
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => end('destroy'),
    /** Stops as a machine does that knows nothing of its connections any more. */
    reset: () => end('resetAndDestroy'),
  }
}
