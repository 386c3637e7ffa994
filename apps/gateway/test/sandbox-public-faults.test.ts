import { describe, expect, test } from 'vitest'
import { raw, useApplication, type SandboxApplication } from './sandbox-application.ts'
import { sandboxId } from './sandbox-gateway.ts'

let application: SandboxApplication

useApplication((started) => (application = started))

const get = (headers: string) =>
  raw(`GET /${sandboxId}/${application.port}/ HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`, application.base)

test('a change of protocol that nobody has asked for is told as such', async () => {
  application.answer = (incoming) =>
    incoming.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  expect(await get('Connection: close')).toMatch(/^HTTP\/1\.1 502 [^]*"port_failed"/)
})

describe.each([
  ['a plain request', 'Connection: close'],
  ['a request for another protocol', 'Connection: Upgrade\r\nUpgrade: websocket'],
])('%s', (_name, headers) => {
  test.each([
    ['a status that is none', 'HTTP/1.1 000 x'],
    ['a status beyond all', 'HTTP/1.1 099 x'],
    ['a change of protocol that names none', 'HTTP/1.1 101 x'],
    ['a reason with control characters', 'HTTP/1.1 200 a\u0001b'],
    ['no HTTP', 'nonsense'],
  ])('that is answered with %s is told as such, and the gateway goes on', async (_what, line) => {
    application.answer = (incoming) => incoming.socket.end(`${line}\r\nContent-Length: 0\r\n\r\n`)
    const answer = await get(headers)
    expect(answer).toMatch(/^HTTP\/1\.1 502 /)
    expect(answer).toContain('"port_failed"')
    application.reset()
    expect(await get(headers)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*hello/)
  })
})

test.each([
  ['without a host', '', '400'],
  ['that expects what is not known', 'Host: x\r\nExpect: more\r\n', '417'],
])('a request for another protocol %s is refused as any other', async (_what, headers, status) => {
  const target = `/${sandboxId}/${application.port}/`
  const wanted = `GET ${target} HTTP/1.1\r\n${headers}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
  expect(await raw(wanted, application.base)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
})

test('an application that declines another protocol is answered for with the end of the connection', async () => {
  expect(await get('Connection: Upgrade\r\nUpgrade: websocket')).toMatch(
    /^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n/,
  )
})
