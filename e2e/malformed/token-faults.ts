import type { Random } from '../system/random.ts'
import type { Attempt } from './attempt.ts'
import type { Aims } from './coverage.ts'
import type { Scene } from './scene.ts'

const formFields = ['grant_type', 'client_id', 'client_secret', 'scope']

/** What the calls below aim at. */
export const tokenAims: Aims = {
  'POST /auth/token': ['header x-api-token', ...formFields.map((name) => `body /${name}`)],
}

/** API tokens that cannot be exchanged. */
export function wrongApiToken(scene: Scene, random: Random): Attempt {
  const of = (text: string) => Buffer.from(text).toString('base64')
  const value = random.pick([
    '',
    'sk-',
    'sk-%%%',
    `sk-${of('x')}`,
    `sk-${of(':')}`,
    `sk-${of('a:b')}`,
    `sk-${of('\u0000:\u0000')}`,
    `sk-${of('sa-e2e-00000000:wrong')}`,
    of('{"clientId":{}}'),
    of('{"clientId":"x","clientSecret":5}'),
    of('{"__proto__":{"clientId":"x"}}'),
    of('['),
    'x'.repeat(8000),
    '\u00ff',
  ])
  return {
    fault: 'wrong API token',
    method: 'POST',
    path: scene.path('/auth/token'),
    headers: { 'x-api-token': value },
    expect: 'refused',
    status: [400, 401, 429],
  }
}

/** Client credentials, and forms around them, that no OAuth client sends, or that open nothing. */
export function wrongTokenForm(scene: Scene, random: Random): Attempt {
  const right = { grant_type: 'client_credentials', client_id: 'sa-e2e-00000000', client_secret: 'wrong' }
  const odd = random.pick(['', '\u0000', '%', 'x'.repeat(5000), 'ä', '{}', '[]', 'executor executor x', '__proto__'])
  const body = random.pick([
    String(new URLSearchParams({ ...right, [random.pick(formFields)]: odd })),
    `${String(new URLSearchParams(right))}&client_id=`.repeat(2),
    'grant_type=%ff&client_id=%',
    '\u00ff',
    '&'.repeat(3000),
  ])
  const authorization = random.pick(['', 'Basic', 'Basic %', 'Basic Og==', `Basic ${btoa('sa-e2e-00000000:%')}`])
  return {
    fault: 'wrong client credentials',
    method: 'POST',
    path: scene.path('/auth/token'),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...(authorization && { authorization }) },
    body,
    expect: 'refused',
    status: [400, 401, 429],
  }
}
