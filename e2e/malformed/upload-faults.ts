import type { Random } from '@automation/testing/random'
import type { Attempt } from './judge.ts'
import type { Scene } from './scene.ts'

const oddIds = ['%00', '..', '%2e%2e', '%ff', '%', 'null', '-1', 'x'.repeat(3000), '%2F', '%F0%9F%99%82', '__proto__']
const oddNumbers = [
  '0',
  '-1',
  '10001',
  '1.5',
  '1e3',
  '0x1',
  '99999999999999999999',
  '%00',
  '%D9%A1',
  'NaN',
  '+1',
  '%201',
  'null',
]

/** A part that must be refused: of an upload that is none, with a number or a digest that is none, or of a form. */
export function wrongPart(scene: Scene, random: Random): Attempt {
  const part = { fault: 'wrong part', method: 'PUT', expect: 'refused', body: 'x' } as const
  const to = (id: string, number: string) => scene.path(`/storage/uploads/${id}/parts/${number}`)
  const right = to(scene.upload, '1')
  const faults: Pick<Attempt, 'path' | 'headers' | 'status' | 'paths'>[] = [
    { path: to(random.pick(oddIds), '1'), headers: {}, status: [400, 404, 405] },
    { path: to(scene.upload, random.pick(oddNumbers)), headers: {}, status: [400], paths: ['/number'] },
    { path: to('00000000-0000-4000-8000-000000000000', '1'), headers: {}, status: [404] },
    ...['x', '====', 'A'.repeat(5000), 'AAAAAAAAAAAAAAAAAAAAAA', '\u00ff'].map((md5) => ({
      path: right,
      headers: { 'content-md5': md5 },
      status: [400],
      paths: ['/Content-MD5'],
    })),
    { path: right, headers: { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }, status: [400], paths: ['/Content-MD5'] },
    { path: right, headers: { 'content-type': 'multipart/form-data; boundary=b' }, status: [415] },
    { path: right, headers: { 'content-encoding': 'gzip' }, status: [415] },
    { path: right, headers: { 'content-length': '9000000000000000' }, status: [413] },
  ]
  const fault = random.pick(faults)
  return { ...part, ...fault, headers: { ...scene.authorized, ...fault.headers } }
}

/** An upload in parts that must not be opened: with a body that says nothing, or what can not be. */
export function wrongUploadInParts(scene: Scene, random: Random): Attempt {
  const name = 'malformed-parts'
  const [body, paths] = random.pick<[unknown, string[]]>([
    [{}, ['/name']],
    [{ name: null }, ['/name']],
    [{ name: 1 }, ['/name']],
    [{ name: '/a' }, ['/name']],
    [{ name: 'a/../b' }, ['/name']],
    [{ name: 'a\u0000' }, ['/name']],
    [{ name: '\ud800' }, ['/name']],
    [{ name, size: -1 }, ['/size']],
    [{ name, size: 0.5 }, ['/size']],
    [{ name, size: '1' }, ['/size']],
    [{ name, size: 1e300 }, ['/size']],
    [{ name, contentType: ';;;' }, ['/contentType']],
    [{ name, contentType: 'x'.repeat(2000) }, ['/contentType']],
    [{ name, contentType: ['text/plain'] }, ['/contentType']],
  ])
  return {
    fault: 'wrong upload in parts',
    method: 'POST',
    path: scene.path('/storage/uploads'),
    headers: { ...scene.authorized, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    expect: 'refused',
    status: [400],
    paths,
  }
}
