import { request, type IncomingMessage } from 'node:http'
import { memoryAtRest } from '@automation/testing'
import { describe, expect, test } from 'vitest'
import { answerOn, answerTo, lateReader } from './late-reader.ts'
import { raw, useApplication, type SandboxApplication } from './sandbox-application.ts'
import { sandboxId } from './sandbox-gateway.ts'

let application: SandboxApplication
let base: string
let port: number

useApplication((started) => {
  application = started
  ;({ base, port } = started)
})

describe('bodies are streamed', () => {
  const piece = Buffer.alloc(1024 * 1024, 'x')
  const pieces = 24

  test('24 MB up and down at once leave the gateway as small as it was', async () => {
    application.answer = (incoming, outgoing) => void incoming.pipe(outgoing)
    const before = memoryAtRest()
    let most = 0
    const sending = request(`${base}/`, { method: 'POST' })
    const feeding = (async () => {
      for (let i = 0; i < pieces; i++)
        if (!sending.write(piece)) await new Promise((resolve) => sending.once('drain', resolve))
      sending.end()
    })()
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      sending.on('response', resolve).on('error', reject),
    )
    let bytes = 0
    let lookedAt = -Infinity
    for await (const data of response as AsyncIterable<Buffer>) {
      bytes += data.length
      if (bytes - lookedAt < 4 * piece.length) continue
      lookedAt = bytes
      most = Math.max(most, memoryAtRest() - before)
    }
    await feeding
    expect(bytes).toBe(pieces * piece.length)
    expect(most).toBeLessThan(12 * 2 ** 20)
  }, 180_000)

  test('a client that does not read stops its answer, and nobody else', async () => {
    let written = 0
    let over = false
    application.answer = (incoming, outgoing) => {
      if (incoming.url === '/quick') return void outgoing.end('quick')
      const feed = () => {
        while (written < 100_000_000 && !over) {
          written += piece.length
          if (!outgoing.write(piece)) return void outgoing.once('drain', feed)
        }
        outgoing.end()
      }
      outgoing.on('close', () => (over = true))
      feed()
    }
    const slow = request(`${base}/slow`).end()
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      slow.on('response', resolve).on('error', reject),
    )
    for (let i = 0; i < 5; i++) expect(await (await fetch(`${base}/quick`)).text()).toBe('quick')
    expect(written).toBeLessThan(100_000_000)
    response.destroy()
    while (!over) await new Promise((resolve) => setImmediate(resolve))
  })

  test('a client that sends all before it reads has the answer that was given before', async () => {
    application.answer = (incoming, outgoing) => {
      outgoing.end('early')
      incoming.resume()
    }
    const bytes = Buffer.alloc(8 * 1024 * 1024)
    const head = `POST /${sandboxId}/${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${bytes.length}\r\n`
    expect(await answerTo(Number(new URL(base).port), head, bytes)).toContain('early')
  })

  test('a client that closes its side behind its request has its answer', async () => {
    const socket = await lateReader(Number(new URL(base).port))
    socket.end(`GET /${sandboxId}/${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`)
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 200 [^]*hello/)
    socket.destroy()
  })

  test('the connection of a request that is answered before its end is not kept', async () => {
    application.answer = (_incoming, outgoing) => outgoing.end('early')
    const head = `POST /${sandboxId}/${port}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nsome`
    expect(await raw(head, base)).toMatch(/\r\nconnection: close\r\n[^]*early/i)
  })

  test('a chunked request of any method keeps its body, one without a body has none', async () => {
    application.answer = (incoming, outgoing) => {
      let body = ''
      incoming.on('data', (data: Buffer) => (body += data.toString()))
      incoming.on('end', () => outgoing.end(JSON.stringify({ body, te: incoming.headers['transfer-encoding'] })))
    }
    const chunked = await raw(
      `GET /${sandboxId}/${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
      base,
    )
    expect(chunked).toContain('{"body":"abc","te":"chunked"}')
    expect(await (await fetch(`${base}/`)).text()).toBe('{"body":""}')
    const head = await fetch(`${base}/`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })
})

test.each([
  ['a length and chunks', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['two lengths', 'Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc'],
  ['a length that is none', 'Content-Length: +3\r\n\r\nabc'],
  ['an unknown transfer coding', 'Transfer-Encoding: xchunked\r\n\r\n'],
])('a request with %s reaches nobody', async (_name, rest) => {
  let reached = 0
  application.answer = (_incoming, outgoing) => {
    reached++
    outgoing.end()
  }
  expect(await raw(`POST /${sandboxId}/${port}/ HTTP/1.1\r\nHost: x\r\n${rest}`, base)).toMatch(/^HTTP\/1\.1 400 /)
  expect(reached).toBe(0)
})

test('headers that a client calls hops of its own do not reach the application, but its length does', async () => {
  const seen = Promise.withResolvers<IncomingMessage>()
  application.answer = (incoming, outgoing) => {
    seen.resolve(incoming)
    incoming.resume().on('end', () => outgoing.end())
  }
  await raw(
    `POST /${sandboxId}/${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close, X-Mine, Content-Length\r\nX-Mine: 1\r\nProxy-Authorization: y\r\nTE: trailers\r\nContent-Length: 3\r\n\r\nabc`,
    base,
  )
  const { headers } = await seen.promise
  expect(headers).toMatchObject({ 'content-length': '3', connection: 'close' })
  for (const name of ['x-mine', 'proxy-authorization', 'te']) expect(headers[name]).toBeUndefined()
})
