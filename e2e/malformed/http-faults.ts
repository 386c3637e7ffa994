import type { Random } from '@automation/testing/random'
import type { Attempt } from './judge.ts'
import type { Scene } from './scene.ts'

/** Bytes on a socket that are no HTTP, or HTTP that two readers would read differently. */
export function rawBytes(scene: Scene, random: Random): Attempt {
  const target = scene.path('/processes')
  const authorization = `Authorization: ${scene.authorized['authorization']}`
  const post = `POST ${target} HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\nContent-Type: application/json\r\n`
  const get = `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n`
  const terminal = `GET ${scene.path('/sandboxes/0198c0de-0000-7000-8000-000000000001/terminal')} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
  const raw = random.pick<() => string | Uint8Array>([
    () => 'GARBAGE\r\n\r\n',
    () => `${'A'.repeat(random.between(1, 20_000))}\r\n\r\n`,
    () => '\r\n\r\n\r\n\r\n',
    () => '\u0000\u0000\u0000\u0000',
    () => Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03]),
    () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    () => 'GET / HTTP/9.9\r\nHost: x\r\n\r\n',
    () => 'GET / HTTP/1.1\r\n\r\n',
    () => `GET ${target}\r\n`,
    () => `GET ${'/x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    () => `GET ${target}?${'a=1&'.repeat(10_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    () => `GET /a b HTTP/1.1\r\nHost: x\r\n\r\n`,
    () => `GET \u00ff\u00fe HTTP/1.1\r\nHost: x\r\n\r\n`,
    () => `BREW ${target} HTTP/1.1\r\nHost: x\r\n\r\n`,
    () => `${get}X-Big: ${'x'.repeat(random.between(16_500, 70_000))}\r\n\r\n`,
    () => `${get}${Array.from({ length: 10_000 }, (_, n) => `X-${n}: 1`).join('\r\n')}\r\n\r\n`,
    () => `${get}Bad Header: 1\r\n\r\n`,
    () => `${get}: nameless\r\n\r\n`,
    () => `${get}X-Folded: a\r\n b\r\n\r\n`,
    () => `${get}X-Nul: a\u0000b\r\n\r\n`,
    () => `${get}${authorization}x\r\n\r\n`,
    () => `${get}Host: other\r\n\r\n`,
    () => `${get}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`,
    () => `${terminal}Content-Length: 5\r\n\r\n`,
    () => `${get}\r\n${terminal}\r\n`,
    () => `${get}Expect: 200-maybe\r\n\r\n`,
    () => `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}`,
    () => `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    () => `${post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    () => `${post}Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n`,
    () => `${post}Transfer-Encoding: xchunked\r\n\r\n{}`,
    () => `${post}Content-Length: -1\r\n\r\n`,
    () => `${post}Content-Length: 1e3\r\n\r\n`,
    () => `${post}Content-Length: 99999999999999999999\r\n\r\n{}`,
    () => `${post}Content-Length: 10737418240\r\n\r\n{"name"`,
    () => `${post}Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n`,
    () => `${post}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n`,
    () => `${post}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    () => `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nTrailer: x\r\nBad Trailer\r\n\r\n`,
    () => `${post}Content-Length: 3\r\n\r\n{}x GET / HTTP/1.1\r\n\r\n`,
  ])()
  return { fault: 'raw bytes', method: '', path: '', headers: {}, raw, expect: 'any' }
}

/** A body that is cut off, or that never comes: the connection is closed on it. */
export function brokenOff(scene: Scene, random: Random): Attempt {
  const upload = '/storage/objects?filename=malformed-broken-off'
  const path = random.pick(['/processes', '/variables', '/processes/{process}/execute', '/team', upload])
  const form = random.happens(0.5)
  const type = path !== upload ? 'application/json' : form ? 'multipart/form-data; boundary=b' : 'text/plain'
  const head = [
    `${path === '/team' ? 'PATCH' : 'POST'} ${scene.path(path)} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${scene.authorized['authorization']}`,
    `Content-Type: ${type}`,
    random.happens(0.5) ? `Content-Length: ${random.between(100, 5000)}` : 'Transfer-Encoding: chunked',
  ]
  const begun = type.startsWith('multipart')
    ? '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nhalf'
    : '{"name":"x'
  const isChunked = head.at(-1) === 'Transfer-Encoding: chunked'
  const part = isChunked ? `${begun.length.toString(16)}\r\n${begun}\r\n` : begun
  const whole = `${head.join('\r\n')}\r\n\r\n${part}`
  const raw = random.happens(0.3) ? whole.slice(0, random.between(10, whole.length)) : whole
  return { fault: 'broken off', method: '', path: '', headers: {}, raw, expect: 'any' }
}

const bodyBytes = 10 * 1024 * 1024
const form = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data; boundary=b'
const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'

/** A large body of ever so many small things, each of which costs more than its bytes. */
export function manyThings(scene: Scene, random: Random): Attempt {
  const [type, unit, status] = random.pick<[string, string, readonly number[]]>([
    [form, 'a&', [400]],
    [form, 'a=1&', [400]],
    [form, '%', [400, 413]],
    [form, '%ff', [400, 413]],
    [form, '&', [200, 204, 413]],
    [form, '+', [400, 413]],
    [multipart, part, [400]],
    [multipart, '--b\r\n', [400]],
    [multipart, '--b\r\nconstructor: x\r\n\r\n', [400]],
  ])
  return {
    fault: 'large body of many things',
    method: 'POST',
    path: scene.webhook(),
    headers: { 'content-type': type },
    body: unit.repeat(Math.floor(bodyBytes / unit.length)),
    expect: 'any',
    // Many at once are more than one address may leave unfinished.
    status: [...status, 503],
  }
}

/** The same where nobody may start anything: who is not let in is told so, not what is wrong with the body. */
export function manyThingsForNobody(scene: Scene, random: Random): Attempt {
  const unit = random.pick(['a&', 'a=1&', '%', '{"a":1}'])
  return {
    fault: 'large body for nobody',
    method: 'POST',
    path: scene.webhook('there-is-none'),
    headers: { 'content-type': random.pick([form, multipart, 'application/json']) },
    body: unit.repeat(Math.floor(bodyBytes / unit.length)),
    expect: 'refused',
    status: [404, 503],
  }
}
