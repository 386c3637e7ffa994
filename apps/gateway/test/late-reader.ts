import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection of a client that reads nothing until it is resumed, and goes on when the other side sends no more. */
export async function lateReader(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).pause()
  // Who writes is told.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** Resolves when the system has taken it. */
export function sent(socket: Socket, data: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => socket.write(data, (error) => (error ? reject(error) : resolve())))
}

/** All that comes until the other side sends no more. */
export async function answerOn(socket: Socket): Promise<string> {
  let answer = ''
  socket.on('data', (data) => (answer += data.toString('latin1'))).resume()
  await once(socket, 'end')
  return answer
}

/** The same, read only when all of a request was sent. */
export async function answerTo(port: number, head: string, body: string | Buffer): Promise<string> {
  const socket = await lateReader(port)
  try {
    await sent(socket, `${head}\r\n`)
    await sent(socket, body)
    return await answerOn(socket)
  } finally {
    socket.destroy()
  }
}
