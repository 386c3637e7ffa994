import type { Random } from '../system/random.ts'
import type { Attempt } from './attempt.ts'
import type { Aims } from './coverage.ts'
import type { Scene } from './scene.ts'
import { oddSegment, oddValue } from './values.ts'

const steeringHeaders = [
  'Svc-Version-Tag',
  'Svc-Async',
  'Svc-Initiated-By',
  'Svc-Agent-Pool',
  'Svc-Comment',
  'Idempotency-Key',
]
const oddTexts = ['', ' ', '\u00ff', '%00', ',,', '{}', 'maybe', '../x', 'x'.repeat(6000)]

/** What the calls below aim at beside what all operations have. */
export const callerAims: Aims = {
  'POST /processes/{}/execute': ['header Svc-Initiated-By', 'header Idempotency-Key'],
  'POST /processes/{}/execute-sync': ['header Svc-Initiated-By', 'header Idempotency-Key'],
  'GET /executions/{}/events': ['header Last-Event-ID'],
  'GET /webhooks/{}': webhookInputs(),
  'POST /webhooks/{}': webhookInputs(),
}

/** Headers that all operations read alike, so that what is odd in them is sent to some. */
export const readAlike: readonly string[] = ['header X-Request-Id', 'header traceparent']

// Operations that ask for no access token.
const open = /\/(webhooks|storage\/signed|auth\/token)\b/

/** Credentials that are none, or those of somewhere else. */
export function wrongToken(scene: Scene, random: Random): Attempt {
  const token = scene.token
  const [head = '', payload = '', signature = ''] = token.split('.')
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  const authorization = random.pick([
    '',
    'Bearer',
    'Bearer ',
    'Bearer null',
    `Bearer ${head}.${payload}`,
    `Bearer ${head}.${payload}.`,
    `Bearer ${none}.${payload}.`,
    `Bearer ${head}.${payload}.${signature.slice(1)}`,
    `Bearer ${head}..${signature}`,
    `Bearer ${token}${token}`,
    `Bearer ${'a'.repeat(8000)}`,
    `Bearer a.b.c`,
    `Bearer ${Buffer.from('{').toString('base64url')}.x.y`,
    `Basic ${Buffer.from('a:b').toString('base64')}`,
    token,
    `Bearer ${token} x`,
    `Bearer \u00ff\u00fe`,
  ])
  const { path, methods } = random.pick(scene.routes.filter((route) => !open.test(route.path)))
  const method = random.pick([...methods])
  const headers = { authorization, 'content-type': 'application/json' }
  return {
    fault: 'wrong token',
    method,
    path: scene.fill(path),
    headers,
    body: method === 'GET' ? undefined : '{}',
    expect: 'refused',
    status: [401],
  }
}

/** Headers that are odd, on a call whose body is refused in any case. */
export function oddHeaders(scene: Scene, random: Random): Attempt {
  const name = random.pick([
    'idempotency-key',
    'svc-initiated-by',
    'x-request-id',
    'traceparent',
    'accept',
    'accept-encoding',
    'origin',
    'expect-ct',
    'range',
    'if-none-match',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-http-method-override',
    'cookie',
    'forwarded',
  ])
  const value = random.pick([
    '',
    'x'.repeat(6000),
    '\u00ff\u00fe',
    '00-zz-zz-zz',
    '*/*;q=x',
    'bytes=9-1',
    '"',
    '999.999.999.999',
    'DELETE',
    '%00',
    ',,,,',
    '{"a":1}',
  ])
  const headers = {
    ...scene.authorized,
    'content-type': 'application/json',
    [name]: random.chance(0.2) ? [value, 'again'] : value,
  }
  return {
    fault: 'odd header',
    method: 'POST',
    path: scene.path(random.pick(['/processes/{process}/execute', '/processes/{process}/execute-sync'])),
    headers,
    body: '{"parameters":5}',
    expect: 'refused',
    status: [400, 431],
  }
}

/** A place in a live stream that is none: the stream begins at its start, or not at all. */
export function oddPosition(scene: Scene, random: Random): Attempt {
  const position = random.pick(['', '0', '-1', 'x', '1e309', '%00', '\u00ff', ',,', 'x'.repeat(6000), '9'.repeat(40)])
  return {
    fault: 'odd place in a stream',
    method: 'GET',
    path: scene.path('/executions/{execution}/events'),
    headers: { ...scene.authorized, 'last-event-id': random.chance(0.2) ? [position, '1'] : position },
    expect: position === '' ? 'any' : 'refused',
    status: position === '' ? [200, 400] : [400],
  }
}

/** A call to a webhook with a broken body, an unknown tag, a wrong method or a slug that is none. */
export function wrongWebhook(scene: Scene, random: Random): Attempt {
  const hook = scene.webhook
  const json = { 'content-type': 'application/json' }
  return {
    fault: 'wrong webhook call',
    expect: 'refused',
    ...random.pick<Pick<Attempt, 'method' | 'path' | 'headers' | 'body' | 'status'>>([
      { method: 'POST', path: hook, headers: json, body: '{', status: [400] },
      { method: 'POST', path: hook, headers: json, body: '{"a":1}x', status: [400] },
      { method: 'POST', path: hook, headers: { ...json, 'svc-version-tag': 'none' }, body: '{}', status: [404] },
      { method: 'POST', path: hook, headers: { ...json, 'svc-version-tag': '\u00ff' }, body: '{}' },
      { method: 'GET', path: hook, headers: { 'svc-agent-pool': 'none' }, status: [400] },
      { method: 'POST', path: hook, headers: { ...json, 'content-encoding': 'gzip' }, body: 'x', status: [415] },
      { method: 'POST', path: hook, headers: { 'content-type': 'multipart/form-data' }, body: 'x', status: [400, 415] },
      { method: 'PUT', path: hook, headers: json, body: '{}', status: [405] },
      { method: 'DELETE', path: hook, headers: {}, status: [405] },
      { method: 'HEAD', path: hook, headers: {}, status: [405] },
      { method: 'POST', path: `${hook}/more`, headers: json, body: '{}', status: [404] },
      { method: 'POST', path: hook, headers: json, body: `{"s":"${'x'.repeat(1_100_000)}"}`, status: [413] },
      { method: 'GET', path: scene.fill(`/api/{team}/webhooks/${oddSegment(random)}`), headers: {} },
      { method: 'POST', path: scene.fill('/api/no-such-team/webhooks/x'), headers: json, body: '{}', status: [404] },
    ]),
  }
}

/** A webhook call that may run, with whatever in query, headers and body: the run is right or fails in words. */
export function oddWebhook(scene: Scene, random: Random): Attempt {
  const query = random.pick([
    '',
    '?a=%00',
    '?a=%ff',
    '?__proto__=1&__proto__=2',
    '?async=maybe',
    '?async=false&async_response=%0d%0aA:%20b',
    '?=&=',
    `?${'a=1&'.repeat(1000)}`,
  ])
  const type = random.pick([
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'x/y; charset=none',
    'application/json; charset=utf-16',
  ])
  const body = random.pick<string | Uint8Array>([
    'null',
    '[]',
    '5',
    '%00=%ff&a=%',
    Buffer.from([0, 255, 254]),
    JSON.stringify({ a: oddValue(random) }),
    '{"__proto__":{"polluted":1}}',
    `[${'['.repeat(5000)}${']'.repeat(5000)}]`,
  ])
  const steering = random.chance(0.3) ? { [random.pick(steeringHeaders)]: random.pick(oddTexts) } : {}
  const method = random.pick(['POST', 'POST', 'POST', 'GET'])
  return {
    fault: 'odd webhook call',
    method,
    path: `${scene.playgroundWebhook}${query}`,
    headers: { ...(method === 'GET' ? {} : { 'content-type': type }), ...steering },
    body: method === 'GET' ? undefined : body,
    expect: 'any',
  }
}

function webhookInputs(): string[] {
  return [...steeringHeaders.map((name) => `header ${name}`), 'query async', 'query async_response']
}
