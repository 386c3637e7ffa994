import * as oauth from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ISSUER } from './contract-servers.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests
beforeAll(async () => {
  gateway = await startGateway({
    OIDC_ISSUER: 'https://id.test',
    OIDC_AUDIENCE: 'svc',
    OIDC_JWKS_URL: 'https://id.test/keys',
  })
})
afterAll(() => gateway.stop())

test.each([
  ['client_secret_basic', () => oauth.ClientSecretBasic('s3cret')],
  ['client_secret_post', () => oauth.ClientSecretPost('s3cret')],
])('openid-client finds the token address of a team, and signs in by %s', async (_, by) => {
  // The name that the system is known by leads nowhere in tests.
  const toGateway: oauth.CustomFetch = (url, options) =>
    fetch(url.replace(ISSUER, gateway.base), options as RequestInit)
  const config = await oauth.discovery(new URL(`${ISSUER}/api/demo/rest`), 'sa-demo-1a2b3c4d', undefined, by(), {
    algorithm: 'oauth2',
    execute: [oauth.allowInsecureRequests],
    [oauth.customFetch]: toGateway,
  })
  const grant = await oauth.clientCredentialsGrant(config, { scope: 'executor' })
  expect(grant).toMatchObject({ access_token: 'a.b.c', scope: 'executor', expires_in: 3600 })
  expect(gateway.servers.last('exchangeToken')).toMatchObject({ team: 'demo', scopes: ['executor'] })
  expect(config.serverMetadata()).toMatchObject({ jwks_uri: `${ISSUER}/.well-known/jwks.json` })
})

test('the metadata of the resource names the token address of the team, and the issuer where people sign in', async () => {
  const response = await gateway.request('GET', '/.well-known/oauth-protected-resource/api/demo/rest')
  expect(await response.json()).toMatchObject({
    resource: `${ISSUER}/api/demo/rest`,
    authorization_servers: [`${ISSUER}/api/demo/rest`, 'https://id.test'],
    scopes_supported: expect.arrayContaining(['read', 'admin', 'mcp:tools']) as string[],
    bearer_methods_supported: ['header'],
  })
})

test.each([
  ['no token', async () => new Headers(), /^Bearer realm="rest", resource_metadata="([^"]+)"$/],
  [
    'a token that is none',
    async () => new Headers({ authorization: 'Bearer x' }),
    /^Bearer realm="rest", error="invalid_token", resource_metadata="([^"]+)"$/,
  ],
  [
    'a token without the scope',
    async () => new Headers({ authorization: `Bearer ${await gateway.servers.token({ scope: 'mcp:tools' })}` }),
    /^Bearer realm="rest", error="insufficient_scope", scope="read", resource_metadata="([^"]+)"$/,
  ],
])('%s: the challenge says what is missing, and leads to the metadata', async (_, headers, challenge) => {
  const response = await fetch(`${gateway.base}/api/demo/rest/team`, { headers: await headers() })
  const [, url = ''] = challenge.exec(response.headers.get('www-authenticate') ?? '') ?? []
  expect(await (await fetch(url.replace(ISSUER, gateway.base))).json()).toMatchObject({
    resource: `${ISSUER}/api/demo/rest`,
  })
})

test('there is none of what can be no team', async () => {
  for (const path of ['', '/api/Not%20A%20Slug/rest', '/api/demo', '/api/demo/rest/team'])
    for (const kind of ['authorization-server', 'protected-resource'])
      expect((await gateway.request('GET', `/.well-known/oauth-${kind}${path}`)).status).toBe(404)
})
