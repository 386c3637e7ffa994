import { once } from 'node:events'
import { createServer } from 'node:http'
import { duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import type { ConnectPortResponse } from '@automation/contract/sandbox/v1/daemon'
import { MessageQueue } from '@automation/rpc/message-queue'
import { expect, test } from 'vitest'
import { Exchange } from '../src/http/exchange.ts'
import { forward } from '../src/sandbox-ports/forward.ts'
import { PortConnection } from '../src/sandbox-ports/port-connection.ts'
import type { Admitted } from '../src/sandbox-ports/public-entry.ts'

const admitted = {
  target: { rest: '/' },
  about: { address: '192.0.2.1', protocol: 'http', prefix: '', requestId: '1' },
} as Admitted

const piece = 'x'.repeat(100_000)
const body = `${piece}${piece}end`
const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`

test.each([
  ['in one piece', [head + body]],
  ['in several', [head + piece, piece, 'end']],
])('a client that reads late has the whole of an answer that came %s before its port broke', async (_how, parts) => {
  async function* responses() {
    for (const part of parts) yield { data: Buffer.from(part) } as unknown as ConnectPortResponse
    throw new Error('The port broke the connection')
  }
  const connection = new PortConnection(responses(), new MessageQueue(), () => undefined)
  const forwarded = Promise.withResolvers<void>()
  const server = createServer((incoming, outgoing) =>
    forward(new Exchange(incoming, outgoing), connection, admitted, 60_000).then(forwarded.resolve, (error) => {
      outgoing.destroy()
      forwarded.reject(error)
    }),
  )
  const [client, accepted] = duplexPair()
  server.emit('connection', accepted)
  client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await once(client, 'readable')
  // Whatever is read ahead has been read then.
  for (let each = 0; each < 20; each += 1) await turn()
  const [received] = await Promise.all([text(client), forwarded.promise])
  expect(received.endsWith(`\r\n\r\n${body}`)).toBe(true)
})
