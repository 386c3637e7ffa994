import { once } from 'node:events'
import { createServer, request as plainRequest, type IncomingMessage, type Server } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * Serves a public port of a sandbox on a port of this machine's loopback: HTTP and WebSocket. Gives the server and its
 * address; `publicUrl` is where the service serves the port.
 */
export async function forward(publicUrl: string, localPort: number): Promise<{ server: Server; address: string }> {
  const target = new URL(publicUrl)
  const server = createServer((incoming, answer) => {
    if (!namesPath(incoming)) return void answer.writeHead(400, { 'content-type': 'text/plain' }).end(noPath)
    const outgoing = send(target, incoming)
    outgoing.on('response', (response) => {
      response.on('error', () => answer.destroy())
      answer.writeHead(response.statusCode ?? 502, response.rawHeaders)
      response.pipe(answer)
    })
    outgoing.on('error', (error) => {
      if (answer.headersSent) answer.destroy()
      else answer.writeHead(502, { 'content-type': 'text/plain' }).end(`The sandbox is not reached: ${error.message}\n`)
    })
    answer.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  })
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    // The server leaves it to us from here on.
    socket.on('error', () => socket.destroy())
    if (namesPath(incoming)) upgrade(target, incoming, socket, head)
    else socket.end(`HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain\r\n\r\n${noPath}`)
  })
  server.listen(localPort, '127.0.0.1')
  await once(server, 'listening')
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const noPath = 'A port of a sandbox is asked for a path, such as /\n'

/** Not so `*`, nor the whole address that a proxy is sent. */
const namesPath = ({ url = '/' }: IncomingMessage) => url.startsWith('/')

function send(target: URL, incoming: IncomingMessage) {
  const request = target.protocol === 'https:' ? secureRequest : plainRequest
  const url = new URL(`${target.origin}${target.pathname.replace(/\/$/, '')}${incoming.url ?? '/'}`)
  return request(url, { method: incoming.method, headers: { ...incoming.headers, host: url.host } })
}

/** Passes an upgrade on, and what its client has sent behind it (`head`) as soon as it is answered. */
function upgrade(target: URL, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
  const outgoing = send(target, incoming)
  socket.on('close', () => outgoing.destroy())
  outgoing.on('upgrade', (response, other, first) => {
    socket.on('close', () => other.destroy())
    other.on('error', () => socket.destroy())
    const lines = [`HTTP/1.1 101 ${response.statusMessage ?? ''}`]
    for (let index = 0; index < response.rawHeaders.length; index += 2)
      lines.push(`${response.rawHeaders[index]}: ${response.rawHeaders[index + 1]}`)
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    if (first.length > 0) socket.write(first)
    if (head.length > 0) other.write(head)
    other.pipe(socket).pipe(other)
  })
  outgoing.on('response', (response) => {
    socket.end(`HTTP/1.1 ${response.statusCode} ${response.statusMessage ?? ''}\r\nconnection: close\r\n\r\n`)
    response.resume()
  })
  outgoing.on('error', () => socket.destroy())
  outgoing.end()
}
