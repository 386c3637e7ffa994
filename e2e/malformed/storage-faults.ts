import type { Random } from '@automation/testing/random'
import type { Attempt } from './judge.ts'
import type { Scene } from './scene.ts'

const form = { 'content-type': 'multipart/form-data; boundary=b' }
const partOf = (disposition: string, more = '') => `--b\r\nContent-Disposition: ${disposition}\r\n${more}\r\nhalf of it`
const file = partOf('form-data; name="file"; filename="f"')

/** Names as nobody forms them, as they stand in a query. */
const oddNames = [
  '%00',
  'a%00b',
  '%2e%2e',
  '%2e%2e%2f%2e%2e%2fteam',
  '..%5c..%5c',
  '%c0%ae%c0%ae',
  '%ff%fe',
  '%',
  '%zz',
  '%u0000',
  '%0d%0aSet-Cookie:%20a=b',
  'x'.repeat(5000),
  '%F0%9F%99%82',
  ';a=b',
  "';--",
  '%22%3E%3Cscript%3E',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  '-1',
  '0',
  '1e309',
  '{}',
  '%5B%5D',
  '*',
  '%25',
  '%2500',
  '.',
  '...',
  '~',
  '%20',
  '+',
]

/** Names that no object may have, as they stand in a query. */
const wrongNames = [
  '',
  '%2Fa',
  'a%2F',
  'a%2F%2Fb',
  '..%2Fa',
  'a%2F..%2Fb',
  'a%2F.',
  '.',
  '..',
  'a%00b',
  'a%0Ab',
  'a%7Fb',
  'a%C2%85b',
  'x'.repeat(1025),
  '%C3%A9'.repeat(513),
]

/** An upload that must leave nothing: under a name that is none, or with a body that is not whole. */
export function wrongUpload(scene: Scene, random: Random): Attempt {
  const upload = { fault: 'wrong upload', method: 'POST', expect: 'refused' } as const
  const to = (query: string) => scene.path(`/storage/objects${query}`)
  if (random.happens(0.4)) {
    const query = random.pick(['filename', 'name'])
    const path = to(random.happens(0.1) ? '' : `?${query}=${random.pick(wrongNames)}`)
    const paths = ['/filename', `/${query}`]
    return { ...upload, path, headers: scene.authorized, body: 'x', status: [400], paths }
  }
  const faults: Pick<Attempt, 'headers' | 'body' | 'status' | 'paths'>[] = [
    { headers: { 'content-type': 'multipart/form-data' }, body: `${file}\r\n--b--\r\n`, status: [400] },
    { headers: { 'content-type': 'multipart/form-data; boundary=' }, body: `${file}\r\n--b--\r\n`, status: [400] },
    { headers: { 'content-type': 'multipart/form-data; boundary=c' }, body: `${file}\r\n--b--\r\n`, status: [400] },
    { headers: form, body: '', status: [400] },
    { headers: form, body: 'x', status: [400] },
    { headers: form, body: file, status: [400] },
    { headers: form, body: `${file}\r\n--b`, status: [400] },
    { headers: form, body: `${file}\r\n--b\r\nContent-Disp`, status: [400] },
    { headers: form, body: `--b\r\nContent-Disposition: ${'x'.repeat(100_000)}`, status: [400] },
    { headers: form, body: '--b--\r\n', status: [400], paths: ['/file'] },
    ...['form-data; name="other"; filename="f"', 'form-data; filename="f"', 'attachment'].map((disposition) => ({
      headers: form,
      body: `${partOf(disposition)}\r\n--b--\r\n`,
      status: [400],
      paths: ['/file'],
    })),
    ...['gzip', 'br', 'identity, gzip', 'nonsense'].map((encoding) => ({
      headers: { 'content-encoding': encoding },
      body: 'x',
      status: [415],
    })),
    { headers: { 'content-length': '9000000000000000' }, body: 'x', status: [413] },
    { headers: { ...form, 'content-length': '9000000000000000' }, body: file, status: [413] },
  ]
  const fault = random.pick(faults)
  const path = to('?filename=malformed-upload')
  return { ...upload, ...fault, path, headers: { ...scene.authorized, ...fault.headers } }
}

/** An upload that may be kept, under whatever name, of whatever type. */
export function oddUpload(scene: Scene, random: Random): Attempt {
  const type = random.pick([
    'text/html',
    'image/svg+xml',
    'nonsense',
    ';;;',
    'x'.repeat(2000),
    'text/plain; charset=none',
    'multipart/mixed; boundary=b',
    'application/json',
    '\u00ff/\u00fe',
  ])
  const whole = random.happens(0.5)
    ? { headers: { 'content-type': type }, body: random.pick(['', '{', '\u0000', 'x'.repeat(100_000)]) }
    : {
        headers: form,
        body: `${partOf(`form-data; name="file"; filename="${random.pick(['', '../x', '%00', 'é'])}"`, `Content-Type: ${type}\r\n`)}\r\n--b--\r\n`,
      }
  const query = random.pick([
    `filename=${scene.folder}${random.pick(oddNames)}`,
    `filename=${scene.folder}${random.pick(oddNames)}/${random.pick(oddNames)}`,
    `filename=${scene.folder}one&filename=${scene.folder}two`,
    `filename=&name=${scene.folder}three`,
  ])
  return {
    fault: 'odd upload',
    method: 'POST',
    path: scene.path(`/storage/objects?${query}`),
    headers: { ...scene.authorized, ...whole.headers },
    body: whole.body,
    expect: 'any',
    status: [204, 400],
  }
}

type Headers = Attempt['headers']

// What says nothing that is understood counts for nothing; what does is honoured.
const conditions: readonly [status: number, headers: Headers][] = [
  ...['bytes=9-1', 'bytes=', 'bytes=a-b', 'bytes=--1', 'bytes 0-1', 'lines=0-1', 'bytes=0x1-2', '', '\u00ff'].map(
    (range): [number, Headers] => [200, { range }],
  ),
  [200, { range: 'bytes=0-0,2-3' }],
  [200, { range: ['bytes=0-0', 'bytes=1-1'] }],
  [200, { range: 'bytes=0-0', 'if-range': '"other"' }],
  [200, { range: 'bytes=0-0', 'if-range': 'yesterday' }],
  [200, { 'if-none-match': '"' }],
  [200, { 'if-none-match': 'other' }],
  [200, { 'if-none-match': '"other", W/"more"' }],
  ...['yesterday', '', '99', 'x 2099', '2099-01-01', 'Sun, 06 Nov 2099'].map((date): [number, Headers] => [
    200,
    { 'if-modified-since': date },
  ]),
  ...['yesterday', '', '99', 'x 1970', '1970-01-01'].map((date): [number, Headers] => [
    200,
    { 'if-unmodified-since': date },
  ]),
  ...['bytes=1000-', 'bytes=99999999999999999999-', 'bytes=-0', 'bytes=1000-1001'].map((range): [number, Headers] => [
    416,
    { range },
  ]),
  ...['"other"', 'W/"other"', '"', 'other', `"${'x'.repeat(5000)}"`].map((tag): [number, Headers] => [
    412,
    { 'if-match': tag },
  ]),
  [412, { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
  [412, { 'if-match': '"other"', range: 'bytes=1000-' }],
]

/** Conditions and ranges of a download that fit nothing, or mean nothing. */
export function oddCondition(scene: Scene, random: Random): Attempt {
  const [status, headers] = random.pick(conditions)
  return {
    fault: 'odd condition',
    method: 'GET',
    path: random.pick([scene.path(`/storage/objects/${scene.object}`), scene.link]),
    headers: { ...scene.authorized, ...headers },
    expect: status === 200 ? 'any' : 'refused',
    status: [status],
  }
}

/** A link of which one thing was changed. */
export function wrongLink(scene: Scene, random: Random): Attempt {
  const [path = '', query = ''] = scene.link.split('?')
  const parts = query.split('&')
  const [name = '', value = ''] = random.pick(parts).split('=')
  const changed = (to: readonly string[]) => parts.map((part) => (part.startsWith(`${name}=`) ? to : part)).flat()
  const other = [
    () => `${path}?${changed([]).join('&')}`,
    () => `${path}?${changed([`${name}=${value}`, `${name}=${value}`]).join('&')}`,
    () => `${path}?${changed([`${name}=`]).join('&')}`,
    () => `${path}?${changed([`${name}=${random.pick(oddNames)}`]).join('&')}`,
    () => `${path}?${changed([`${name}=${value}x`]).join('&')}`,
    () => `${path}?${changed([`${name}=${value.slice(1)}`]).join('&')}`,
    () => `${path}?${changed([`${name.toLowerCase()}=${value}`]).join('&')}`,
    () => `${path}?${query}&more=1`,
    () =>
      `${path}?${query.replace(/(Expires)=\d+/, `$1=${random.pick(['604801', '0', '-1', '0604800', '1e5', 'x'])}`)}`,
    () => `${path}?${query.replace(/(Date)=\d{4}/, '$1=2099')}`,
    () => `${path}x?${query}`,
    () => `${path.replace(/\/api\/[^/]+/, '/api/no-such-team')}?${query}`,
    () => path,
  ]
  return {
    fault: 'wrong link',
    method: 'GET',
    path: random.pick(other)(),
    headers: {},
    expect: 'refused',
    status: [403],
  }
}
