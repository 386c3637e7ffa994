import { Failure } from '@automation/errors'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { problemOf, startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())
beforeEach(() => void gateway.servers.answers.delete('exchangeToken'))

const ID = 'sa-demo-1a2b3c4d'
const GRANT = { grant_type: 'client_credentials' }
const IN_FORM = { ...GRANT, client_id: ID, client_secret: 's3cret' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` })

const ask = (form: Record<string, string> | string, headers: Record<string, string> = {}) =>
  gateway.request('POST', '/api/demo/rest/auth/token', {
    headers: { authorization: '', ...FORM, ...headers },
    body: String(new URLSearchParams(form)),
  })

const refusalOf = async (response: Response) => {
  const problem = (await problemOf(response)) as Awaited<ReturnType<typeof problemOf>> & Record<string, unknown>
  const { error, error_description: text, code, detail } = problem
  expect({ code, text }).toEqual({ code: error, text: detail })
  expect(text).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/)
  expect(Object.fromEntries(response.headers)).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
  return [response.status, error]
}

describe('the client-credentials form of OAuth 2.0', () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['in the form', IN_FORM, {}],
    ['with the scope', { ...IN_FORM, scope: 'executor' }, {}],
    ['with an empty scope', { ...IN_FORM, scope: '' }, {}],
    ['with members that nobody knows', { ...IN_FORM, audience: 'x' }, {}],
    ['by HTTP Basic', GRANT, basic(`${ID}:s3cret`)],
    ['by HTTP Basic, encoded as a form', GRANT, basic(`${ID.replaceAll('-', '%2D')}:s3%63ret`)],
    ['by HTTP Basic, the id also in the form', { ...GRANT, client_id: ID }, basic(`${ID}:s3cret`)],
  ])('is answered: %s', async (_, form, headers) => {
    const response = await ask(form, headers)
    expect(await response.json()).toEqual({
      access_token: 'a.b.c',
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'executor',
    })
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const apiToken = `sk-${Buffer.from(`${ID}:s3cret`).toString('base64')}`
    expect(gateway.servers.last('exchangeToken')).toMatchObject({ team: 'demo', apiToken })
  })

  test.each<[string, number, string, Record<string, string> | string, Record<string, string>]>([
    ['another grant', 400, 'unsupported_grant_type', { ...IN_FORM, grant_type: 'password' }, {}],
    ['no grant', 400, 'invalid_request', { client_id: ID, client_secret: 's3cret' }, {}],
    ['Basic without a form', 400, 'invalid_request', {}, basic(`${ID}:s3cret`)],
    ['another scope', 400, 'invalid_scope', { ...IN_FORM, scope: 'executor something' }, {}],
    ['a repeated field', 400, 'invalid_request', `${new URLSearchParams(IN_FORM)}&client_id=${ID}`, {}],
    ['no credentials', 400, 'invalid_client', GRANT, {}],
    ['credentials twice', 400, 'invalid_request', IN_FORM, basic(`${ID}:s3cret`)],
    ['two ids', 400, 'invalid_request', { ...GRANT, client_id: 'sa-demo-00000000' }, basic(`${ID}:s3cret`)],
    ['an id without a secret', 401, 'invalid_client', { ...GRANT, client_id: ID }, {}],
    ['Basic that is none', 401, 'invalid_client', GRANT, { authorization: 'Basic %%%' }],
    ['Basic without a secret', 401, 'invalid_client', GRANT, basic(`${ID}:`)],
    ['Basic with a broken escape', 401, 'invalid_client', GRANT, basic(`${ID}:%`)],
  ])('is refused in the words of RFC 6749: %s', async (_, status, error, form, headers) => {
    const before = gateway.servers.received.length
    const response = await ask(form, headers)
    expect(response.headers.get('www-authenticate')).toEqual(
      status === 401 ? 'Basic realm="token", charset="UTF-8"' : null,
    )
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await refusalOf(response)).toEqual([status, error])
    expect(gateway.servers.received).toHaveLength(before)
  })

  test('asks for no more than the scope, and gives no more, whatever the catalog answers', async () => {
    const answer = (scope: string) =>
      gateway.servers.answers.set('exchangeToken', () => ({ accessToken: 'a.b.c', expiresInS: 60, scope }))
    answer('read')
    expect(await (await ask({ ...IN_FORM, scope: 'read  run' })).json()).toMatchObject({ scope: 'read' })
    expect(gateway.servers.last('exchangeToken')).toMatchObject({ scopes: ['read', 'run'] })
    answer('executor admin')
    expect(await (await ask(IN_FORM)).json()).toMatchObject({ scope: 'executor admin' })
    expect(await (await ask({}, { 'x-api-token': 'sk-abc' })).json()).toMatchObject({ scope: 'executor' })
    const response = await ask({ ...IN_FORM, scope: 'read' })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  })

  test.each(['api_token_invalid', 'api_token_malformed'])(
    'credentials that open nothing (%s) are 401',
    async (code) => {
      gateway.servers.answers.set('exchangeToken', () => {
        throw new Failure(code === 'api_token_invalid' ? 'unauthenticated' : 'invalid_argument', code, 'No')
      })
      const response = await ask(IN_FORM)
      expect(response.headers.get('www-authenticate')).toMatch(/^Basic /)
      expect(await refusalOf(response)).toEqual([401, 'invalid_client'])
    },
  )

  test('is refused as JSON where the client asks for that', async () => {
    const response = await ask(GRANT, { accept: 'application/json' })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await refusalOf(response)).toEqual([400, 'invalid_client'])
  })

  test('counts for nothing beside the header, which is refused as ever', async () => {
    expect((await ask({ ...GRANT, scope: 'x' }, { 'x-api-token': 'sk-abc' })).status).toBe(200)
    expect(gateway.servers.last('exchangeToken')).toMatchObject({ apiToken: 'sk-abc' })
    const response = await ask('')
    expect([response.status, (await problemOf(response)).code]).toEqual([400, 'api_token_missing'])
  })

  test('is bounded', async () => {
    expect((await ask({ ...IN_FORM, x: 'x'.repeat(20_000) })).status).toBe(413)
  })

  test('is what the security scheme of the document declares', async () => {
    const document = (await (await gateway.request('GET', '/openapi.json')).json()) as {
      components: { securitySchemes: { oauth2: object } }
    }
    expect(document.components.securitySchemes.oauth2).toMatchObject({
      type: 'oauth2',
      flows: {
        clientCredentials: {
          tokenUrl: 'http://gateway.test/api/%7Bteam%7D/rest/auth/token',
          scopes: { executor: expect.any(String) as string, read: expect.any(String) as string },
        },
      },
    })
  })
})
