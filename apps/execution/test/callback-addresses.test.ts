import { createServer } from 'node:net'
import { listening } from '@automation/testing/listening'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pauseAfter } from '../src/react/callbacks.ts'
import { post } from '../src/react/post.ts'
import { Egress } from '../src/react/egress.ts'
import { Receiver } from './receiver.ts'

let receiver: Receiver
beforeAll(async () => {
  receiver = await Receiver.start()
})
afterAll(() => receiver.close())

const refused = {
  ok: false,
  final: true,
  reason: 'its address is private, and the setting EGRESS_ALLOW does not name it',
}

/** Posts to a name that leads to these addresses, or to an address itself. */
function deliver(url: string, addresses: string[], allow: string[] = [], turn = 0) {
  const lookup = async () => addresses
  const common = { body: Buffer.from('{}'), headers: {}, timeoutMs: 2000, signal: new AbortController().signal }
  return post({ ...common, url, turn, egress: new Egress(allow), lookup })
}

/** Each of these is of this machine, its network, its cloud, or of no use but to get there. */
const inside = [
  ...['127.0.0.1', '127.1.2.3', '0.0.0.0', '0.1.2.3', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['169.254.169.254', '169.254.170.2', '100.64.0.1', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  ...['198.18.0.1', '192.0.2.1', '192.88.99.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1'],
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  ...['0:0:0:0:0:ffff:a9fe:a9fe', '64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::1', '64:ff9b:1::a00:1'],
  ...['2002:7f00:1::', '2002:a9fe:a9fe::1', '2001:0:7f00:1::', '2001:db8::1', '100::1'],
]

test.each(inside)('a name that leads to %s is refused, also beside an address that is allowed', async (address) => {
  expect(await deliver('http://receiver.example/', [address])).toEqual(refused)
  expect(await deliver('http://receiver.example/', ['93.184.216.34', address])).toEqual(refused)
})

const written = [
  ...['127.0.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0x7f.1', '017700000001', '127.0.0.1.'],
  ...['%31%32%37.0.0.1', '①②⑦.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '[::7f00:1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'metadata.google.internal', '169.254.169.254'],
]

test.each(written)('the host written as %s is refused without a look-up', async (host) => {
  expect(await deliver(`http://${host}/`, ['93.184.216.34'])).toEqual(refused)
})

test('the name is looked up once, and the connection goes to exactly the address that was checked', async () => {
  const { port } = new URL(receiver.url)
  let looks = 0
  // Another answer for a second look would lead inside.
  const lookup = async () => (looks++ === 0 ? ['127.0.0.1'] : ['127.0.0.2'])
  const result = await post({
    url: `http://receiver.example:${port}/here`,
    body: Buffer.from('{"a":1}'),
    headers: { 'Idempotency-Key': 'k' },
    egress: new Egress(['127.0.0.1']),
    turn: 0,
    timeoutMs: 2000,
    signal: new AbortController().signal,
    lookup,
  })
  expect(result).toEqual({ ok: true })
  expect(looks).toBe(1)
  expect(receiver.received.at(-1)).toMatchObject({ url: '/here', headers: { host: `receiver.example:${port}` } })
})

test('names of the machine itself are known, and one that nobody knows is a failure that is tried again', async () => {
  const common = { body: Buffer.from('{}'), headers: {}, turn: 0, timeoutMs: 20_000 }
  const here = { ...common, egress: new Egress(['127.0.0.0/8', '::1']), signal: new AbortController().signal }
  const { port } = new URL(receiver.url)
  expect(await post({ ...here, url: `http://localhost:${port}/` })).toEqual({ ok: true })
  const unknown = await post({ ...here, url: 'http://receiver.invalid/' })
  expect(unknown).toMatchObject({ ok: false, final: false, reason: expect.stringMatching(/its name|no answer/) })
})

test('a look-up or a receiver without an end is given up in time, and what failed is said in plain words', async () => {
  const never = () => new Promise<string[]>(() => undefined)
  const common = { body: Buffer.from('{}'), headers: {}, egress: new Egress(['127.0.0.1']), turn: 0, timeoutMs: 50 }
  const signal = new AbortController().signal
  const late = { ok: false, final: false, reason: 'no answer within 50 ms' }
  expect(await post({ ...common, url: 'http://receiver.example/', signal, lookup: never })).toEqual(late)
  const before = receiver.answer
  receiver.answer = (response) => void response.write('HTTP body that never')
  expect(await post({ ...common, timeoutMs: 2000, url: receiver.url, signal })).toEqual({ ok: true })
  receiver.answer = () => undefined
  expect(await post({ ...common, url: receiver.url, signal })).toEqual(late)
  receiver.answer = before
  expect(await post({ ...common, timeoutMs: 2000, url: 'http://127.0.0.1:1/', signal })).toEqual({
    ok: false,
    final: false,
    reason: 'the connection was refused',
  })
})

test.each([
  [
    'changes the protocol',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    /answered 101$/,
  ],
  ['says nothing and hangs up', '', /^the connection was cut$/],
  ['hangs up within its head', 'HTTP/1.1 200 OK\r\nContent-', /./],
])('a receiver that %s has failed, and is waited for no longer', async (_what, answer, reason) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(answer))
  })
  const { url, close } = await listening(server)
  const result = await deliver(`${url}/`, [], ['127.0.0.1'])
  expect(result).toEqual({ ok: false, final: false, reason: expect.stringMatching(reason) as string })
  await close()
})

test('pauses double up to an hour', () => {
  expect([1, 2, 3, 20].map((tries) => pauseAfter(tries, 1000, 0))).toEqual([1000, 2000, 4000, 3_600_000])
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), fc.double({ min: 0, max: 1, noNaN: true }), (tries, random) => {
      const ms = pauseAfter(tries, 1000, random)
      return ms >= 750 && ms <= 3_600_000
    }),
  )
})
