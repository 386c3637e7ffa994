import { createServer, type IncomingMessage } from 'node:http'
import { listening } from '@automation/testing/listening'
import { expect, test } from 'vitest'
import { raw, useApplication, type SandboxApplication } from './sandbox-application.ts'
import { sandboxId, startSandboxGateway } from './sandbox-gateway.ts'

let application: SandboxApplication
let base: string
let port: number

useApplication((started) => {
  application = started
  ;({ base, port } = started)
})

const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code

test('a request reaches the application below its prefix, with what it has to know of the client', async () => {
  const seen = Promise.withResolvers<IncomingMessage>()
  application.answer = (incoming, outgoing) => {
    seen.resolve(incoming)
    outgoing.writeHead(201, { 'X-Own': 'yes', 'Set-Cookie': ['a=1', 'b=2'], Connection: 'X-Hop, close', 'X-Hop': 'no' })
    outgoing.end('made')
  }
  const response = await fetch(`${base}/a%20b/c?q=%2F`, {
    method: 'POST',
    body: 'content',
    headers: {
      'X-Forwarded-For': '6.6.6.6',
      'X-Forwarded-Host': 'forged',
      Forwarded: 'for=forged',
      'X-Api-Key': 'own',
    },
  })
  expect([response.status, await response.text()]).toEqual([201, 'made'])
  expect(response.headers.get('x-own')).toBe('yes')
  expect(response.headers.getSetCookie()).toEqual([`${sandboxId}.a=1`, `${sandboxId}.b=2`])
  expect(response.headers.get('x-hop')).toBeNull()
  const { method, url, headers } = await seen.promise
  expect([method, url]).toEqual(['POST', '/a%20b/c?q=%2F'])
  expect(headers).toMatchObject({
    host: new URL(application.system.publicBase).host,
    'x-api-key': 'own',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': new URL(application.system.publicBase).host,
    'x-forwarded-prefix': `/${sandboxId}/${port}`,
    'content-length': '7',
  })
  expect(headers['forwarded']).toBeUndefined()
})

test('every answer carries the X-Request-Id that its application was told', async () => {
  application.answer = ({ headers }, outgoing) => {
    outgoing.setHeader('X-Request-Id', 'its-own')
    outgoing.end(headers['x-request-id'])
  }
  const own = await fetch(`${base}/`)
  const made = own.headers.get('x-request-id')
  expect(made).toMatch(/^[\w-]{36}$/)
  expect(await own.text()).toBe(made)
  const headers = { 'X-Request-Id': 'given-1' }
  for (const address of [`${base}/`, base, `${application.system.publicBase}/`]) {
    const given = await fetch(address, { headers, redirect: 'manual' })
    expect(given.headers.get('x-request-id'), address).toBe('given-1')
  }
})

test('headers of an answer come through byte for byte', async () => {
  application.answer = ({ socket }) =>
    socket.end('HTTP/1.1 200 Schön\r\nX-Name: Grüße\r\nContent-Length: 2\r\n\r\nok', 'utf8')
  const answer = await raw(`GET /${sandboxId}/${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, base)
  const [status, name] = Buffer.from(answer, 'latin1').toString('utf8').split('\r\n')
  expect([status, name]).toEqual(['HTTP/1.1 200 Schön', 'X-Name: Grüße'])
})

test('the address of a port without a slash leads to the one with it', async () => {
  const response = await fetch(`${base}?a=b`, { redirect: 'manual' })
  expect([response.status, response.headers.get('location')]).toEqual([308, `/${sandboxId}/${port}/?a=b`])
})

test('what is unknown, has ended, or is not public looks the same', async () => {
  const texts = new Set<string>()
  const addresses = [
    `${application.system.publicBase}/${sandboxId}/${port + 1}/`,
    `${application.system.publicBase}/01890000-0000-7000-8000-00000000ffff/${port}/`,
    `${application.system.publicBase}/${sandboxId}/99999/`,
    `${application.system.publicBase}/`,
    `${application.system.publicBase}/api/demo/rest/team`,
  ]
  for (const address of addresses) {
    const response = await fetch(address)
    expect(response.status).toBe(404)
    texts.add(((await response.json()) as { detail: string }).detail)
  }
  expect([...texts]).toEqual(['Sandbox not found'])
})

test('a port where nobody listens is 502, a sandbox that starts 503, one that is away 502', async () => {
  const { port: unused, close } = await listening(createServer())
  await close()
  application.system.publicPorts.add(unused)
  const closed = await fetch(`${application.system.publicBase}/${sandboxId}/${unused}/`)
  expect([closed.status, await codeOf(closed)]).toEqual([502, 'port_closed'])
  application.system.starting = true
  const starting = await fetch(`${base}/`)
  expect([starting.status, starting.headers.get('retry-after')]).toEqual([503, '1'])
  application.system.starting = false
  const { route } = application.system
  application.system.route = { ...route, sandboxId: 'other', daemonAddress: 'unix:/nowhere/at/all.sock' }
  const away = await fetch(`${base}/`)
  expect([away.status, await codeOf(away)]).toEqual([502, 'sandbox_unreachable'])
  application.system.route = route
})

test('an application that does not answer in time is told as such', async () => {
  const impatient = await startSandboxGateway({}, { answerTimeoutMs: 100 })
  impatient.publicPorts.add(port)
  application.answer = () => undefined
  const silent = await fetch(`${impatient.publicBase}/${sandboxId}/${port}/`)
  expect([silent.status, await codeOf(silent)]).toEqual([504, 'port_timeout'])
  await impatient.stop()
})

test('an application that speaks no HTTP, or breaks off, is told as such', async () => {
  application.answer = (incoming) => incoming.socket.end('nonsense\r\n\r\n')
  const nonsense = await fetch(`${base}/`)
  expect([nonsense.status, await codeOf(nonsense)]).toEqual([502, 'port_failed'])
  application.answer = (_incoming, outgoing) => {
    outgoing.writeHead(200, { 'Content-Length': '100' })
    outgoing.write('begun')
    setImmediate(() => outgoing.destroy())
  }
  const begun = await fetch(`${base}/`)
  await expect(begun.text()).rejects.toThrow('terminated')
})

test('with a domain each port is a host of its own, and the path is the application’s', async () => {
  const other = await startSandboxGateway({ SANDBOX_PUBLIC_DOMAIN: 'sandboxes.test:8081' })
  other.publicPorts.add(port)
  application.answer = (incoming, outgoing) =>
    outgoing.end(JSON.stringify([incoming.url, incoming.headers['x-forwarded-prefix']]))
  const get = (host: string, path: string) =>
    raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, other.publicBase)
  expect(await get(`${port}-${sandboxId}.sandboxes.test`, `/a?b`)).toMatch(/^HTTP\/1\.1 200 [^]*\["\/a\?b",null\]/)
  expect(await get(`${port}-${sandboxId}.other.test`, '/')).toMatch(/^HTTP\/1\.1 404 /)
  expect(await get('x', `/${sandboxId}/${port}/`)).toMatch(/^HTTP\/1\.1 404 /)
  await other.stop()
})

test('of X-Forwarded-Proto from trusted proxies the application is told the first', async () => {
  const other = await startSandboxGateway({ TRUSTED_PROXIES: '127.0.0.1' })
  other.publicPorts.add(port)
  application.answer = (incoming, outgoing) => outgoing.end(incoming.headers['x-forwarded-proto'])
  const told = async (given: string) =>
    (await fetch(`${other.publicBase}/${sandboxId}/${port}/`, { headers: { 'x-forwarded-proto': given } })).text()
  for (const given of ['https', 'https, http', 'HTTPS,http']) expect(await told(given)).toBe('https')
  expect(await told('http, https')).toBe('http')
  await other.stop()
})
