import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { until } from '@automation/testing'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { raw, useApplication, type SandboxApplication } from './sandbox-application.ts'
import { sandboxId, startSandboxGateway } from './sandbox-gateway.ts'

let application: SandboxApplication
let base: string
let port: number

useApplication((started) => {
  application = started
  ;({ base, port } = started)
})

describe('behind a user name and a password', () => {
  const basic = (username: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  })

  test.each([
    ['apr1', '$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/'],
    ['SHA-1', '{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE='],
    ['bcrypt', '$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC'],
  ])('that is kept as %s', async (_form, passwordHash) => {
    const authorizations: (string | undefined)[] = []
    application.answer = (incoming, outgoing) => {
      authorizations.push(incoming.headers.authorization)
      outgoing.end('in')
    }
    application.system.route!.basicAuth = { username: 'user', passwordHash }
    const none = await fetch(`${base}/`)
    const challenge = `Basic realm="sandbox ${sandboxId}", charset="UTF-8"`
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, challenge])
    for (const wrong of [basic('user', 'other'), basic('other', 'myPassword')])
      expect((await fetch(`${base}/`, { headers: wrong })).status).toBe(401)
    expect(await (await fetch(`${base}/`, { headers: basic('user', 'myPassword') })).text()).toBe('in')
    expect(authorizations).toEqual([undefined])
  })

  test('ten wrong ones within a minute, and the next is not even read', async () => {
    application.system.route!.basicAuth = { username: 'user', passwordHash: '$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/' }
    let refused: Response
    do refused = await fetch(`${base}/`, { headers: basic('user', `wrong-${Math.random()}`) })
    while (refused.status === 401)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await fetch(`${base}/`, { headers: basic('user', 'myPassword') })).status).toBe(429)
  })
})

describe('WebSocket', () => {
  const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

  beforeAll(() => {
    // Echoes frames as they are, unmasked; enough for what the clients here send.
    application.app.on('upgrade', (incoming: IncomingMessage, socket: Socket) => {
      const accept = createHash('sha1').update(`${incoming.headers['sec-websocket-key']}${guid}`).digest('base64')
      socket.on('error', () => undefined)
      if (incoming.url === '/refused') return void socket.end('HTTP/1.1 418 No\r\nContent-Length: 2\r\n\r\nno')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
      // The answer to a closing frame is the last.
      socket.on('data', (frame: Buffer) => socket[(frame[0]! & 15) === 8 ? 'end' : 'write'](unmasked(frame)))
      socket.on('end', () => socket.end())
    })
  })

  test('messages pass in both directions', async () => {
    const client = new WebSocket(`${base.replace('http', 'ws')}/echo`)
    const answers: unknown[] = []
    await new Promise((resolve, reject) => {
      client.addEventListener('open', () => client.send('one'))
      client.addEventListener('error', () => reject(new Error('no connection')))
      client.addEventListener('message', ({ data }) => {
        answers.push(data)
        if (answers.length === 1) client.send('two')
        else resolve(undefined)
      })
    })
    expect(answers).toEqual(['one', 'two'])
    const { system } = application
    expect(await system.traffic()).toMatchObject({ 'upgrade passed': 1, 'upgrade open': 1 })
    client.close()
    await until(async () => (await system.traffic())['upgrade open'] === 0)
  })

  test('one is no leak in the eyes of Node', async () => {
    const warned: string[] = []
    const note = ({ name }: Error) => warned.push(name)
    process.on('warning', note)
    const client = new WebSocket(`${base.replace('http', 'ws')}/echo`)
    await new Promise((resolve) => client.addEventListener('open', resolve))
    client.close()
    await until(async () => (await application.system.traffic())['upgrade open'] === 0)
    process.off('warning', note)
    expect(warned).toEqual([])
  })

  test('an application may refuse it in its own words', async () => {
    expect(await raw(upgradeTo('/refused'), base)).toMatch(/^HTTP\/1\.1 418 No\r\n[^]*\r\n\r\nno$/)
    expect(await application.system.traffic()).toMatchObject({ 'upgrade declined': 1 })
  })

  test('one to a port that is not public is refused', async () => {
    application.system.publicPorts.clear()
    expect(await raw(upgradeTo('/'), base)).toMatch(/^HTTP\/1\.1 404 /)
    expect(await application.system.traffic()).toMatchObject({ 'upgrade refused': 1 })
  })

  test('one without the credentials is refused', async () => {
    application.system.route!.basicAuth = { username: 'user', passwordHash: '{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE=' }
    expect(await raw(upgradeTo('/'), base)).toMatch(/^HTTP\/1\.1 (401|429) /)
  })

  const upgradeTo = (path: string) =>
    `GET /${sandboxId}/${port}${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`

  test('a stop cuts connections that were upgraded or say nothing', async () => {
    const other = await startSandboxGateway()
    other.publicPorts.add(port)
    const address = other.publicBase.slice('http://'.length)
    const upgraded = new WebSocket(`ws://${address}/${sandboxId}/${port}/echo`)
    await new Promise((resolve) => upgraded.addEventListener('open', resolve))
    const silent = connect(Number(new URL(other.publicBase).port), '127.0.0.1')
      .resume()
      .on('error', () => undefined)
    silent.write('GET / HTTP/1.1\r\nHo')
    await new Promise((resolve) => silent.once('connect', resolve))
    const closed = Promise.all([
      new Promise((resolve) => silent.on('close', resolve)),
      new Promise((resolve) => upgraded.addEventListener('close', resolve)),
    ])
    await other.stop()
    await closed
  })
})

describe('by path, where all sandboxes share an origin', () => {
  const other = '01890000-0000-7000-8000-00000000005b'
  const mark = `${sandboxId}.`

  /** The headers that the application sees of a request with these. */
  async function seenOf(headers: Record<string, string>): Promise<IncomingMessage['headers']> {
    const seen = Promise.withResolvers<IncomingMessage>()
    application.answer = (incoming, outgoing) => {
      seen.resolve(incoming)
      outgoing.end()
    }
    await fetch(`${base}/`, { headers })
    return (await seen.promise).headers
  }

  test.each(['Basic dTpw', 'Bearer token', 'Digest username="u"'])('authorization %s reaches none', async (value) => {
    expect(await seenOf({ Authorization: value })).not.toHaveProperty('authorization')
  })

  test('of cookies each gets its own alone', async () => {
    expect(await seenOf({ Cookie: 'session=of-the-gateway; theme=dark' })).not.toHaveProperty('cookie')
    const all = `session=x; ${other}.a=1; ${mark}a=2;${mark}b="3 4"; ${mark}c=`
    expect(await seenOf({ Cookie: all })).toMatchObject({ cookie: 'a=2; b="3 4"; c=' })
  })

  test('its cookies are for its path and the host alone, and no header of it is for the whole origin', async () => {
    const prefix = `/${sandboxId}/${port}`
    application.answer = (_incoming, outgoing) => {
      const cookies = [
        'a=1',
        'b=2; Path=/; Domain=example.com; HttpOnly',
        `c=3; path=${prefix}/x`,
        'd=4; Path=relative',
      ]
      outgoing.writeHead(200, {
        'Set-Cookie': cookies,
        'Service-Worker-Allowed': '/',
        'Clear-Site-Data': '"*"',
        'Strict-Transport-Security': 'max-age=1',
        Refresh: '5',
      })
      outgoing.end()
    }
    const { headers } = await fetch(`${base}/`)
    expect(headers.getSetCookie()).toEqual([
      `${mark}a=1`,
      `${mark}b=2; HttpOnly; Path=${prefix}/`,
      `${mark}c=3; Path=${prefix}/x`,
      `${mark}d=4`,
    ])
    for (const name of ['service-worker-allowed', 'clear-site-data', 'strict-transport-security'])
      expect(headers.has(name), name).toBe(false)
    expect(headers.get('refresh')).toBe('5')
  })

  test('what is to become a WebSocket brings nothing of others either', async () => {
    const seen = Promise.withResolvers<IncomingMessage>()
    const refuse = (incoming: IncomingMessage, socket: Socket) => {
      seen.resolve(incoming)
      socket.end('HTTP/1.1 418 No\r\nSet-Cookie: a=1; Path=/\r\nContent-Length: 0\r\n\r\n')
    }
    application.app.prependOnceListener('upgrade', refuse)
    const answer = await raw(
      `GET /${sandboxId}/${port}/refused HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Basic dTpw\r\nCookie: a=1; ${mark}b=2\r\n\r\n`,
      base,
    )
    expect(answer).toContain(`Set-Cookie: ${mark}a=1; Path=/${sandboxId}/${port}/\r\n`)
    const { headers } = await seen.promise
    expect(headers).toMatchObject({ cookie: 'b=2' })
    expect(headers).not.toHaveProperty('authorization')
  })
})

test('at a host of its own a sandbox gets what is sent to it, and its cookies are for that host alone', async () => {
  const own = await startSandboxGateway({ SANDBOX_PUBLIC_DOMAIN: 'sandboxes.test' })
  own.publicPorts.add(port)
  onTestFinished(() => own.stop())
  const seen = Promise.withResolvers<IncomingMessage>()
  application.answer = (incoming, outgoing) => {
    seen.resolve(incoming)
    outgoing.writeHead(200, { 'Set-Cookie': 'a=1; Domain=sandboxes.test; Path=/', 'Clear-Site-Data': '"*"' })
    outgoing.end()
  }
  const answer = await raw(
    `GET / HTTP/1.1\r\nHost: ${port}-${sandboxId}.sandboxes.test\r\nAuthorization: Bearer own\r\nCookie: a=1; b=2\r\nConnection: close\r\n\r\n`,
    own.publicBase,
  )
  expect(answer).toMatch(/^Set-Cookie: a=1; Path=\/\r$/m)
  expect(answer).toMatch(/^Clear-Site-Data: "\*"\r$/m)
  expect((await seen.promise).headers).toMatchObject({ authorization: 'Bearer own', cookie: 'a=1; b=2' })
})

/** A short frame of a client as a server sends it. */
function unmasked(frame: Buffer): Buffer {
  const length = frame[1]! & 127
  const mask = frame.subarray(2, 6)
  const text = frame.subarray(6, 6 + length).map((byte, index) => byte ^ mask[index % 4]!)
  return Buffer.concat([Buffer.from([frame[0]!, length]), text])
}
