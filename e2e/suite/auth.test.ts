import { createHmac, createPublicKey } from 'node:crypto'
import type { JWK } from 'jose'
import { SignJWT, createRemoteJWKSet, decodeJwt, decodeProtectedHeader, generateKeyPair, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { send } from '../client/client.ts'
import { expectProblem } from './problem.ts'
import { client, hasOther, other, shared } from './shared-system.ts'

const tokenUrl = (team = shared.main.team) => `${shared.host}/api/${team}/rest/auth/token`
const exchange = (apiToken: string | undefined, team?: string) =>
  send(tokenUrl(team), 'POST', { headers: apiToken === undefined ? {} : { 'x-api-token': apiToken } })
const jwksUrl = `${shared.host}/.well-known/jwks.json`
const own = shared.main.accessToken
const credentials = () => atob(shared.main.apiToken.slice(3)).split(':') as [string, string]
const use = (token: string) => client.call('GET', '/team', { token })

describe('token exchange', () => {
  test('an API token is exchanged for an access token', async () => {
    const answer = await exchange(shared.main.apiToken)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
      scope: 'executor',
    })
    const { access_token: token } = answer.body as { access_token: string }
    expect((await use(token)).status).toBe(200)
  })

  test.for(['', '{}', 'not json', '<xml/>', '\u0000'])('a body of any form (%j) is tolerated', async (body) => {
    const headers = { 'x-api-token': shared.main.apiToken, 'content-type': 'application/json' }
    expect((await send(tokenUrl(), 'POST', { headers, body })).status).toBe(200)
  })

  test.for([
    undefined,
    '',
    'x',
    'sk-',
    'sk-!!!!',
    `sk-${btoa('no-colon')}`,
    btoa('{"clientId":1}'),
    btoa('[]'),
    btoa('null'),
    `sk-${'A'.repeat(3000)}`,
  ])('a missing or malformed token (%j) gives 400', async (token) => {
    const { errors } = expectProblem(await exchange(token), 400)
    expect(errors).toMatchObject([{ path: '/x-api-token' }])
  })

  test('an unknown client, a wrong secret and a token of another team give 401 with the same text', async () => {
    const [clientId, secret] = credentials()
    const wrong = [
      `sk-${btoa(`${clientId}:${'x'.repeat(secret.length)}`)}`,
      `sk-${btoa(`sa-${shared.main.team}-zzzzzzz0:${secret}`)}`,
    ]
    const details = new Set<string>()
    for (const token of wrong) details.add(expectProblem(await exchange(token), 401).detail)
    for (const team of hasOther ? [other.address.team, 'no-such-team'] : ['no-such-team'])
      details.add(expectProblem(await exchange(shared.main.apiToken, team), 401).detail)
    expect(details.size).toBe(1)
  })
})

describe('access tokens', () => {
  test('a token is a JWT with the documented claims, signed with a published asymmetric key', async () => {
    const { payload, protectedHeader } = await jwtVerify(own, createRemoteJWKSet(new URL(jwksUrl)))
    expect(protectedHeader).toMatchObject({
      alg: expect.stringMatching(/^(RS|PS|ES)\d+$|^EdDSA$|^Ed25519$/),
      kid: expect.any(String),
    })
    expect(payload).toMatchObject({
      iss: expect.any(String),
      sub: expect.any(String),
      client_id: credentials()[0],
      groups: [shared.main.team],
      scope: expect.stringMatching(/^executor( admin)?$/) as string,
      iat: expect.any(Number),
      exp: expect.any(Number),
      jti: expect.any(String),
    })
  })

  test('the published keys are public parts only', async () => {
    const { body, status } = await send<{ keys: JWK[] }>(jwksUrl, 'GET')
    expect(status).toBe(200)
    expect(body.keys.length).toBeGreaterThan(0)
    for (const key of body.keys)
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(secret)
  })

  test('a missing, malformed or foreign credential gives 401 with WWW-Authenticate: Bearer', async () => {
    const [header = '', payload = '', signature = ''] = own.split('.')
    const tokens = [
      'x',
      'a.b.c',
      `${header}.${payload}.`,
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${own}x`,
      own.slice(1),
    ]
    const answers = [await client.call('GET', '/team', { token: null }), ...(await Promise.all(tokens.map(use)))]
    for (const scheme of ['Basic', 'Token', ''])
      answers.push(
        await client.call('GET', '/team', { token: null, headers: { authorization: `${scheme} ${own}`.trim() } }),
      )
    for (const answer of answers) {
      expectProblem(answer, 401)
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/)
    }
  })

  test('the scheme is read in any case', async () => {
    for (const scheme of ['bearer', 'BEARER'])
      expect(
        (await client.call('GET', '/team', { token: null, headers: { authorization: `${scheme} ${own}` } })).status,
      ).toBe(200)
  })

  test('a changed payload is refused', async () => {
    const [header, , signature] = own.split('.')
    const changed = { ...decodeJwt(own), groups: [shared.main.team, 'everyone'] }
    expectProblem(await use(`${header}.${encode(changed)}.${signature}`), 401)
  })

  test.for(['none', 'None', 'NONE', ''])('the algorithm %j is refused', async (alg) => {
    const claims = encode(decodeJwt(own))
    expectProblem(await use(`${encode({ alg, typ: 'JWT' })}.${claims}.`), 401)
    expectProblem(await use(`${encode({ ...decodeProtectedHeader(own), alg })}.${claims}.x`), 401)
  })

  test('HS256 with the public key as the secret is refused, in every form of the key', async () => {
    const { body } = await send<{ keys: JWK[] }>(jwksUrl, 'GET')
    const jwk = body.keys[0] as JWK
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const forms = [
      key.export({ type: 'spki', format: 'pem' }),
      key.export({ type: 'spki', format: 'der' }),
      JSON.stringify(jwk),
      String(jwk.x ?? jwk.n),
      Buffer.from(String(jwk.x ?? jwk.n), 'base64url'),
      '',
    ]
    for (const secret of forms) {
      const signed = `${encode({ alg: 'HS256', typ: 'JWT', kid: decodeProtectedHeader(own).kid })}.${encode(decodeJwt(own))}`
      expectProblem(await use(`${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`), 401)
    }
  })

  test('keys that the token brings along or points to are not trusted', async () => {
    const { alg = 'ES256', kid } = decodeProtectedHeader(own)
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    const jwk = await crypto.subtle.exportKey('jwk', publicKey)
    const headers = [
      { kid },
      { kid: '../../../../dev/null' },
      { kid: "' OR 1=1 --" },
      { kid: 'file:///etc/passwd' },
      { kid: '' },
      { kid: 'x'.repeat(4000) },
      {},
      { jwk },
      { jku: 'http://127.0.0.1:1/jwks.json', kid: 'mine' },
      { x5u: 'http://127.0.0.1:1/cert.pem' },
    ]
    for (const header of headers) {
      const token = await new SignJWT(decodeJwt(own))
        .setProtectedHeader({ alg, ...header } as { alg: string })
        .sign(privateKey)
      expectProblem(await use(token), 401)
    }
  })

  test('another team answers 403, the same for one that exists, one that does not and a malformed one', async () => {
    const teams = [
      ...(hasOther ? [other.address.team] : []),
      'no-such-team',
      'Not_A_Team',
      '-x',
      'x'.repeat(64),
      'a%20b',
    ]
    const details = new Set<string>()
    for (const team of teams)
      for (const [method, path] of [
        ['GET', '/team'],
        ['GET', '/processes'],
        ['DELETE', '/processes/x'],
        ['POST', '/variables'],
      ] as const) {
        const answer = await send(`${shared.host}/api/${team}/rest${path}`, method, {
          headers: { authorization: `Bearer ${own}` },
          ...(method === 'POST' ? { json: {} } : {}),
        })
        const { code, detail } = expectProblem(answer, 403)
        details.add(`${code} ${detail}`)
      }
    expect(details.size).toBe(1)
  })

  test('every REST operation asks for a token before anything else', async () => {
    const paths = [
      '/processes',
      '/processes/x',
      '/executions',
      '/executions/x/logs',
      '/variables',
      '/team',
      '/processes/x/versions',
    ]
    for (const path of paths) expectProblem(await client.call('GET', path, { token: null }), 401)
    expectProblem(await client.call('POST', '/processes', { token: null, json: { name: 5 } }), 401)
    expectProblem(await client.call('POST', '/processes/x/execute-sync', { token: null, json: {} }), 401)
  })
})

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
