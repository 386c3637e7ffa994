import type { Random } from '../system/random.ts'
import type { Attempt } from './attempt.ts'
import type { Scene } from './scene.ts'

type Told = Pick<Attempt, 'status' | 'paths'>

const names: readonly string[] = [
  '%2Fleading',
  'trailing%2F',
  'a%2F%2Fb',
  '..',
  '.',
  'a%2F..%2Fb',
  'a%00b',
  'a%0Ab',
  '%7F',
  'x'.repeat(1025),
  `${'%C3%A9'.repeat(513)}`,
]

const bytes = { 'content-type': 'application/octet-stream' }

/** An upload without a name, with a name that can't be one, or as a form without a file. */
export function wrongUpload(scene: Scene, random: Random): Attempt {
  const boundary = { 'content-type': 'multipart/form-data; boundary=x' }
  const at = (query: string) => scene.path(`/storage/objects${query}`)
  const made = random.pick<() => Pick<Attempt, 'path' | 'headers' | 'body'> & Told>([
    () => ({ path: at(''), headers: bytes, body: 'x', status: [400], paths: ['/filename'] }),
    () => ({ path: at('?filename='), headers: bytes, body: 'x', status: [400], paths: ['/filename'] }),
    () => ({ path: at('?name='), headers: bytes, body: 'x', status: [400], paths: ['/filename'] }),
    () => ({ path: at(`?filename=${random.pick(names)}`), headers: bytes, body: 'x', status: [400] }),
    () => ({ path: at('?filename=a'), headers: { 'content-type': 'multipart/form-data' }, body: 'x', status: [400] }),
    () => ({ path: at('?filename=a'), headers: boundary, body: '--x--\r\n', status: [400] }),
    () => ({ path: at('?filename=a'), headers: boundary, body: 'no form at all', status: [400] }),
    () => ({
      path: at('?filename=a'),
      headers: boundary,
      body: '--x\r\nContent-Disposition: form-data; name="other"\r\n\r\ny\r\n--x--\r\n',
      status: [400],
      paths: ['/file'],
    }),
    () => ({ path: at('?filename=a'), headers: { ...bytes, 'content-encoding': 'gzip' }, body: 'x', status: [415] }),
  ])()
  return {
    ...made,
    fault: 'wrong upload',
    method: 'POST',
    headers: { ...scene.authorized, ...made.headers },
    expect: 'refused',
  }
}

/** Conditions that an object does not meet, ranges that it does not have, links that nobody signed. */
export function wrongDownload(scene: Scene, random: Random): Attempt {
  const object = scene.path('/storage/objects/{object}')
  const link = scene.path('/storage/signed/{object}')
  const { headers, ...made } = random.pick<Pick<Attempt, 'path' | 'headers'> & Told>([
    { path: object, headers: { range: 'bytes=99999-' }, status: [416] },
    { path: object, headers: { range: 'bytes=-0' }, status: [416] },
    { path: object, headers: { 'if-match': '"nothing"' }, status: [412] },
    { path: object, headers: { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }, status: [412] },
    { path: `${object}-none`, headers: {}, status: [404] },
    { path: link, headers: {}, status: [403] },
    { path: `${link}?X-Amz-Signature=x`, headers: {}, status: [403] },
    { path: `${link}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=${'0'.repeat(64)}`, headers: {}, status: [403] },
    { path: `${link}?X-Amz-Expires=-1&X-Amz-Date=%00`, headers: {}, status: [403] },
    { path: `${link}?X-Amz-Signature=a&X-Amz-Signature=b`, headers: {}, status: [403] },
  ])
  return {
    ...made,
    fault: 'wrong download',
    method: 'GET',
    headers: { ...scene.authorized, ...headers },
    expect: 'refused',
  }
}
