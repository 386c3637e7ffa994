import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { inadmissible, type Exchange } from '../http/exchange.ts'
import { sandboxRoute } from '../observe.ts'
import { answerHeaders } from './passed-headers.ts'
import { beginAnswer, broken, late, onwardRequest } from './forward.ts'
import type { PublicEntry } from './public-entry.ts'
import type { PortConnection } from './port-connection.ts'
import type { Traffic } from './traffic.ts'

const keepAliveMs = 30_000

/**
 * Sends on a request that is to become another protocol, such as WebSocket, then bytes in both directions. An application
 * that does not want that is answered for as it answers. Failures: those of admission and of `forward`.
 */
export async function forwardUpgrade(
  entry: PublicEntry,
  exchange: Exchange,
  socket: Socket,
  head: Buffer,
  { answerTimeoutMs, traffic }: { answerTimeoutMs: number; traffic: Traffic },
): Promise<void> {
  exchange.route = sandboxRoute
  const refusal = inadmissible(exchange)
  if (refusal !== undefined) throw refusal
  const admitted = await entry.admit(exchange, true)
  admitted.target.rest ??= '/'
  const connection = await entry.open(admitted, socket)
  await new Promise<void>((resolve, reject) => {
    const onward = onwardRequest(exchange, connection, admitted)
    const fail = (error: unknown) => {
      clearTimeout(timer)
      connection.destroy()
      reject(error as Error)
    }
    const timer = setTimeout(() => fail(late()), answerTimeoutMs)
    onward.on('error', (error) => fail(broken(error)))
    onward.on('upgrade', (answer, _connection, first) => {
      clearTimeout(timer)
      traffic.passed('upgrade', socket)
      join(socket, connection, { answer, headers: answerHeaders(answer, admitted.about) }, head, first)
      resolve()
    })
    onward.on('response', (answer) => {
      clearTimeout(timer)
      exchange.outgoing.shouldKeepAlive = false
      try {
        beginAnswer(exchange.outgoing, answer, admitted)
      } catch (error) {
        return fail(broken(error))
      }
      traffic.failed('upgrade', 'declined')
      answerOn(exchange, socket)
      pipeline(answer, exchange.outgoing, () => undefined)
      resolve()
    })
    onward.end()
  })
}

/** From here on bytes only. An upgraded connection may be silent for hours; TCP tells when its client has vanished. */
function join(
  socket: Socket,
  connection: PortConnection,
  { answer, headers }: { answer: IncomingMessage; headers: string[] },
  head: Buffer,
  first: Buffer,
): void {
  socket.setTimeout(0)
  socket.setNoDelay(true)
  socket.setKeepAlive(true, keepAliveMs)
  const lines = [`HTTP/1.1 101 ${answer.statusMessage}`, 'Connection: Upgrade', `Upgrade: ${answer.headers.upgrade}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  if (first.length > 0) connection.unshift(first)
  if (head.length > 0) socket.unshift(head)
  // Two pipelines listen to it beside the server: more than Node takes for no leak.
  socket.setMaxListeners(0)
  const over = () => undefined // both ends are destroyed with whatever breaks first
  pipeline(socket, connection, over)
  pipeline(connection, socket, over)
}

/** Lets the answer of an exchange be written after all, and nothing behind it. */
export function answerOn({ outgoing }: Exchange, socket: Socket): void {
  if (socket.destroyed) return
  outgoing.shouldKeepAlive = false
  outgoing.assignSocket(socket)
  outgoing.on('finish', () => socket.destroySoon())
}
