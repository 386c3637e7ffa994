import { notFound } from '@automation/errors'
import { until } from '@automation/testing'
import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at } from './contract-records.ts'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

const team = (authorization: string, path = '/api/demo/rest/team') =>
  gateway.request('GET', path, { headers: { authorization } })
const outcome = async (authorization: string, path?: string) => {
  const response = await team(authorization, path)
  const code = response.status === 200 ? 'ok' : (await problemOf(response)).code
  return { status: response.status, code, challenge: response.headers.get('www-authenticate')?.split(' ')[0] ?? null }
}

describe('401 only for what is missing, malformed, expired or wrongly signed', () => {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { sub: 'x', groups: ['demo'], scope: 'executor', iss: 'http://gateway.test', exp: 4_000_000_000 }

  test.each([
    ['', 'token_missing'],
    ['Bearer ', 'token_missing'],
    ['Basic eDp5', 'token_missing'],
    ['Bearer x', 'token_invalid'],
    ['Bearer a.b.c', 'token_invalid'],
    [`Bearer ${encoded({ alg: 'none' })}.${encoded(claims)}.`, 'token_invalid'],
    [`Bearer ${encoded({ alg: 'HS256', kid: 'first' })}.${encoded(claims)}.AAAA`, 'token_invalid'],
    [`Bearer ${encoded({ alg: 'ES256', kid: '../../x' })}.${encoded(claims)}.AAAA`, 'token_invalid'],
  ])('%s', async (authorization, code) => {
    expect(await outcome(authorization)).toEqual({ status: 401, code, challenge: 'Bearer' })
  })

  test('an expired token', async () => {
    expect(await outcome(`Bearer ${await gateway.servers.token({}, '-1s')}`)).toMatchObject({ code: 'token_expired' })
  })

  test('a token of another issuer, as of a gateway with another PUBLIC_URL, with the one that it must be of', async () => {
    const response = await team(`Bearer ${await gateway.servers.token({ iss: 'http://else' })}`)
    const { code, detail } = await problemOf(response)
    expect([response.status, code]).toEqual([401, 'token_invalid'])
    expect(detail).toBe('The access token is not valid: it was not issued by http://gateway.test (PUBLIC_URL)')
  })

  test('a token whose signature was made over other claims', async () => {
    const [head, , signature] = (await gateway.servers.token()).split('.')
    expect(await outcome(`Bearer ${head}.${encoded(claims)}.${signature}`)).toMatchObject({ code: 'token_invalid' })
  })

  test('a token that is written in another way than its issuer wrote it', async () => {
    const token = await gateway.servers.token()
    expect(await outcome(`Bearer ${token}`)).toMatchObject({ status: 200 })
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    // A signature of ES256 leaves 4 bits of its last letter unused.
    const last = letters[letters.indexOf(token.at(-1)!) + 1]!
    for (const altered of [token.slice(0, -1) + last, `${token}==`, token.replaceAll('.', '==.')])
      expect(await outcome(`Bearer ${altered}`)).toMatchObject({ status: 401, code: 'token_invalid' })
  })

  test('within 5 s a token whose API token was revoked with it, and any that is signed by a key that was taken away', async () => {
    const told = { gateways: 1, tellsSuspensions: true }
    let answer = { ...told, revision: 1n, revokedClients: ['leaked'] }
    const own = await startGateway({}, {}, ({ answers }) => answers.set('listTeamLimits', () => answer))
    try {
      const [leaked, other] = [await own.servers.token({ client_id: 'leaked' }), await own.servers.token()]
      const status = async (token: string) => {
        const headers = { authorization: `Bearer ${token}` }
        return (await own.request('GET', '/api/demo/rest/team', { headers })).status
      }
      expect([await status(leaked), await status(other)]).toEqual([401, 200])
      own.servers.answers.set('listSigningKeys', () => ({ jwks: '{"keys":[]}' }))
      answer = { ...told, revision: 2n, revokedClients: [] }
      await until(async () => (await status(other)) === 401, { what: 'the key to be gone', timeoutMs: 5000 })
    } finally {
      await own.stop()
    }
  })

  test('within 5 s a token of a team whose access was ended since, in this team alone', async () => {
    const told = { gateways: 1, tellsSuspensions: true }
    let answer: object = { ...told, revision: 1n }
    const own = await startGateway({}, {}, ({ answers }) => answers.set('listTeamLimits', () => answer as never))
    try {
      const at = (secondsAgo: number) => Math.floor(Date.now() / 1000) - secondsAgo
      const both = { groups: ['demo', 'other'] }
      const [former, later] = [
        await own.servers.token({ ...both, iat: at(60) }),
        await own.servers.token({ iat: at(10) }),
      ]
      const status = async (token: string, team: string) => {
        const headers = { authorization: `Bearer ${token}` }
        return (await own.request('GET', `/api/${team}/rest/team`, { headers })).status
      }
      expect(await status(former, 'demo')).toBe(200)
      answer = { ...told, revision: 2n, access: [{ team: 'demo', from: { seconds: BigInt(at(30)), nanos: 0 } }] }
      await until(async () => (await status(former, 'demo')) === 401, { what: 'the token to end', timeoutMs: 5000 })
      expect(await status(later, 'demo')).toBe(200)
      expect(await status(former, 'other')).not.toBe(401)
    } finally {
      await own.stop()
    }
  })

  test('a token is forgotten at its end, also when it was verified a moment before', async () => {
    const token = await gateway.servers.token({}, '3s')
    expect(await outcome(`Bearer ${token}`)).toMatchObject({ status: 200 })
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp: number }
    await until(() => Date.now() > exp * 1000)
    expect(await outcome(`Bearer ${token}`)).toMatchObject({ status: 401, code: 'token_expired' })
  })
})

describe('403 for a valid token that does not allow it, the same for teams that exist and teams that do not', () => {
  test.each([
    [{ groups: ['other'] }, '/api/demo/rest/team'],
    [{}, '/api/nowhere/rest/team'],
    [{ groups: ['Not A Slug'] }, '/api/Not%20A%20Slug/rest/team'],
    [{ groups: 'demo' }, '/api/demo/rest/team'],
    [{ groups: undefined }, '/api/demo/rest/team'],
    [{ groups: ['other'], scope: '' }, '/api/demo/rest/team'],
  ])('%j on %s', async (claims, path) => {
    const before = gateway.servers.received.length
    expect(await outcome(`Bearer ${await gateway.servers.token(claims)}`, path)).toEqual({
      status: 403,
      code: 'forbidden',
      challenge: null,
    })
    expect(gateway.servers.received).toHaveLength(before)
  })

  test.each(['reader', '', 'executors', 'run build admin', 'mcp:read'])(
    'scope_missing for the scope "%s"',
    async (scope) => {
      const before = gateway.servers.received.length
      const response = await team(`Bearer ${await gateway.servers.token({ scope })}`)
      expect(await problemOf(response)).toMatchObject({
        status: 403,
        code: 'scope_missing',
        requiredScope: 'read',
        detail: expect.stringMatching(/the scope read/) as string,
      })
      expect(gateway.servers.received).toHaveLength(before)
    },
  )

  test('a token of several teams and scopes may act for each', async () => {
    const token = await gateway.servers.token({ groups: ['a', 'demo'], scope: 'x executor' })
    expect(await outcome(`Bearer ${token}`)).toMatchObject({ status: 200 })
  })
})

describe('keys', () => {
  test('a key is found with its first token, also one that came just after another, and old tokens stay good', async () => {
    const old = await gateway.servers.token()
    for (const kid of ['second', 'third']) {
      await gateway.servers.rotateKey(kid)
      const fresh = await gateway.servers.token()
      expect(await outcome(`Bearer ${fresh}`)).toMatchObject({ status: 200 })
    }
    expect(await outcome(`Bearer ${old}`)).toMatchObject({ status: 200 })
    expect(await (await gateway.request('GET', '/.well-known/jwks.json')).json()).toMatchObject({
      keys: [{ kid: 'first' }, { kid: 'second' }, { kid: 'third' }],
    })
  })

  test('tokens with made-up keys do not make the gateway ask again and again', async () => {
    const before = gateway.servers.keyReads
    const began = performance.now()
    const { privateKey } = await generateKeyPair('ES256')
    const forged = (kid: string) =>
      new SignJWT({ groups: ['demo'], scope: 'executor' })
        .setProtectedHeader({ alg: 'ES256', kid })
        .setIssuer('http://gateway.test')
        .setSubject('x')
        .setExpirationTime('1h')
        .sign(privateKey)
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, index) => forged(`k${index}`)))
    for (const at of [0, 5, 10]) {
      const outcomes = await Promise.all(tokens.slice(at, at + 10).map((token) => outcome(`Bearer ${token}`)))
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([401]))
    }
    // One at the beginning, where the last was long ago, and then one a second.
    const seconds = (performance.now() - began) / 1000
    expect(gateway.servers.keyReads - before).toBeLessThan(1.5 + seconds)
  })
})

test('GET /teams lists those that the token names and that are there', async () => {
  gateway.servers.answers.set('getTeam', (_: never, { principal }: { principal: { team: string } }) => {
    if (principal.team === 'gone') throw notFound('team')
    return { slug: principal.team, name: 'x', zoneId: 'UTC', createdAt: at }
  })
  try {
    const groups = ['demo', 'gone', 'Not A Slug', 'other', 'demo']
    const authorization = `Bearer ${await gateway.servers.token({ groups })}`
    const response = await gateway.request('GET', '/api/demo/rest/teams', { headers: { authorization } })
    expect(await response.json()).toMatchObject([{ slug: 'demo' }, { slug: 'other' }])
  } finally {
    gateway.servers.answers.delete('getTeam')
  }
})
