import type { Random } from '../system/random.ts'
import type { Attempt } from './attempt.ts'
import { identified, lists } from './addresses.ts'
import type { Scene } from './scene.ts'
import { oddSegment } from './values.ts'

const badNumbers = [
  '-1',
  '0.5',
  'x',
  'NaN',
  'null',
  'true',
  '1;2',
  '%00',
  '0x10g',
  '--',
  '[]',
  '1,2',
  '١',
  '1 2',
  'Infinity',
]

/** Query values that a list must refuse. */
export function wrongQuery(scene: Scene, random: Random): Attempt {
  const { path, strict, paged } = random.pick(lists)
  const names = [...(paged ? ['page', 'limit'] : []), ...Object.keys(strict)]
  const name = random.pick(names)
  const value = random.pick([...(strict[name] ?? badNumbers), ...(name === 'limit' ? ['0'] : [])])
  const query = `${name}=${value.startsWith('%') ? value : encodeURIComponent(value)}`
  return {
    ...get(scene, `${scene.path(path)}?${query}`),
    fault: 'wrong query value',
    status: [400],
    paths: [`/${name}`],
  }
}

/** Queries that are odd, but no fault that the interface names. */
export function oddQuery(scene: Scene, random: Random): Attempt {
  const { path, free } = random.pick(lists)
  const own = free.length > 0 && random.chance(0.3) ? `${random.pick(free)}=${oddSegment(random)}` : ''
  const query = random.pick([
    own,
    `page=${'9'.repeat(random.between(5, 40))}`,
    'page=2147483648',
    'limit=99999999999999999999',
    'limit=1&limit=2',
    'page=0&page=x',
    'keywords=%00',
    'keywords=%ff%fe',
    `keywords=${'x'.repeat(5000)}`,
    `keywords=${'%25'.repeat(500)}`,
    'keywords=(((((a*)*)*)*)*)*b',
    'tags=%00&tags=,,,,&tags=%F0%9F%99%82',
    `tags=${'a,'.repeat(2000)}`,
    'processId=not-an-id',
    'processId=%00',
    'comment=%5C%5C%27%22',
    'prefix=%ff%fe',
    'prefix=..%2f..',
    `prefix=${'x'.repeat(5000)}`,
    'versionId=%2e%2e',
    '__proto__[polluted]=1',
    'constructor.prototype=1',
    '=&&&=',
    '?&?',
    '%',
    'a[]=1&a[b]=2',
    'from=2026-01-01T00:00:00Z&to=1970-01-01',
    'from=0001-01-01T00:00:00Z',
    'to=9999-12-31T23:59:59Z',
  ])
  return { ...get(scene, `${scene.path(path)}?${query}`), fault: 'odd query', expect: 'any' }
}

/** An id that nobody forms, on a call that would change or read something. */
export function oddPath(scene: Scene, random: Random): Attempt {
  const { path, methods } = random.pick(identified)
  const method = random.pick(methods)
  const target = scene.path(path.replace('{id}', oddSegment(random)))
  const json = method === 'GET' || method === 'DELETE' ? undefined : '{}'
  const headers = { ...scene.authorized, ...(json ? { 'content-type': 'application/json' } : {}) }
  // A dot segment may be resolved on the way to another address, where reading is right and nothing else is.
  return {
    fault: 'odd id in the path',
    method,
    path: target,
    headers,
    body: json,
    expect: method === 'GET' ? 'any' : 'refused',
  }
}

/** Paths that look like others: doubled slashes, dots, other roots. */
export function strayPath(scene: Scene, random: Random): Attempt {
  const base = scene.path('')
  const path = random.pick([
    `${base}//processes`,
    `${base}/./processes`,
    `${base}/../rest/processes`,
    `${base}/processes/`,
    `${base}/PROCESSES`,
    `${base}/processes%2f`,
    `${base}/processes;x=1`,
    `${base}/processes%00`,
    `${base}/nothing`,
    `${base}`,
    '/',
    '//',
    '/api',
    '/api/',
    '/api//rest/processes',
    '/api/%2e%2e/rest/team',
    '/api/%00/rest/team',
    `/api/${'x'.repeat(64)}/rest/team`,
    '/api/UPPER/rest/team',
    '/api/no-such-team/rest/team',
    '/api/a%2fb/rest/team',
    '/.git/config',
    '/etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/metrics/../api',
    '/openapi.json/x',
    '/docs/../../package.json',
    '/docs/%2e%2e%2f%2e%2e%2fpackage.json',
    '/.well-known/jwks.json/..%2f',
    `/${'a/'.repeat(2000)}`,
    `/${'%61'.repeat(1000)}`,
  ])
  return { ...get(scene, path), fault: 'stray path', expect: 'any' }
}

/** A team that nobody is called, or that is not the caller's, in the address of any operation. */
export function oddTeam(scene: Scene, random: Random): Attempt {
  const { path, methods } = random.pick(scene.routes)
  const method = random.pick([...methods])
  const target = scene.fill(path.replace('{team}', oddSegment(random)))
  const json = method === 'GET' || method === 'DELETE' ? undefined : '{}'
  const headers = { ...scene.authorized, ...(json ? { 'content-type': 'application/json' } : {}) }
  return { fault: 'odd team in the path', method, path: target, headers, body: json, expect: 'refused' }
}

/** A method that the address does not have. */
export function wrongMethod(scene: Scene, random: Random): Attempt {
  const { path, methods } = random.pick(scene.routes)
  const method = random.pick(
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'SEARCH', 'LOCK', 'REPORT'].filter(
      (one) => !methods.has(one),
    ),
  )
  const headers = { ...scene.authorized, 'content-type': 'application/json' }
  return { fault: 'wrong method', method, path: scene.fill(path), headers, expect: 'refused', status: [404, 405] }
}

function get(scene: Scene, path: string): Attempt {
  return { fault: '', method: 'GET', path, headers: scene.authorized, expect: 'refused' }
}
