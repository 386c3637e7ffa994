import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  discoveryRequest,
  processClientCredentialsResponse,
  processDiscoveryResponse,
  processResourceDiscoveryResponse,
  resourceDiscoveryRequest,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
  type ClientAuth,
} from 'oauth4webapi'
import { describe, expect, test } from 'vitest'
import { client, contract, hasOther, other, shared } from './shared-system.ts'

const [clientId = '', secret = ''] = atob(shared.main.apiToken.slice(3)).split(':')

/** What a standard OAuth client gets; every answer is held against the document. */
async function grant(auth: ClientAuth, { team = shared.main.team, scope = 'executor', id = clientId } = {}) {
  const path = `/api/${team}/rest/auth/token`
  const server = { issuer: shared.host, token_endpoint: `${shared.host}${path}` }
  const asked = { client_id: id }
  const form = new URLSearchParams(scope === '' ? {} : { scope })
  const answer = await clientCredentialsGrantRequest(server, asked, auth, form, { [allowInsecureRequests]: true })
  const { status, headers } = answer
  expect(contract.faultsOf('POST', path, { status, headers, text: await answer.clone().text() })).toEqual([])
  return processClientCredentialsResponse(server, asked, answer)
}

const WAYS: [string, (secret: string) => ClientAuth][] = [
  ['HTTP Basic', ClientSecretBasic],
  ['the form', ClientSecretPost],
]

describe.each(WAYS)('a standard OAuth client with its credentials in %s', (_, by) => {
  test.each([
    ['executor', 'executor'],
    ['read', 'read'],
    ['admin read', 'admin read'],
    ['', 'executor admin'],
  ])('gets an access token, asking for the scope %j', async (scope, granted) => {
    const { access_token: token, ...rest } = await grant(by(secret), { scope })
    expect(rest).toEqual({ token_type: 'bearer', expires_in: expect.any(Number) as number, scope: granted })
    expect((await client.call('GET', '/team', { token })).status).toBe(200)
    const mayBuild = granted.includes('executor')
    expect((await client.call('DELETE', '/variables/none', { token })).status).toBe(mayBuild ? 404 : 403)
  })

  test('is told what the matter is', async () => {
    const refused = await grant(by(secret), { scope: 'everything' }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ResponseBodyError)
    expect(refused).toMatchObject({
      status: 400,
      error: 'invalid_scope',
      error_description: expect.any(String) as string,
    })
  })

  test('gets nothing with a wrong secret, as an unknown client, of a team that is not there', async () => {
    const tries = [
      () => grant(by('x'.repeat(secret.length))),
      () => grant(by(secret), { id: `sa-${shared.main.team}-zzzzzzz0` }),
      () => grant(by(secret), { team: 'no-such-team' }),
    ]
    for (const attempt of tries) await expect(attempt()).rejects.toThrow(WWWAuthenticateChallengeError)
  })

  test.runIf(hasOther)('gets nothing of another team', async () => {
    await expect(grant(by(secret), { team: other.address.team })).rejects.toThrow(WWWAuthenticateChallengeError)
  })
})

test('a standard OAuth client discovers from the address of the API where it gets tokens', async () => {
  const api = new URL(`${shared.host}/api/${shared.main.team}/rest`)
  const insecure = { [allowInsecureRequests]: true }
  const resource = await processResourceDiscoveryResponse(api, await resourceDiscoveryRequest(api, insecure))
  const issuer = new URL(resource.authorization_servers?.[0] ?? '')
  const answer = await discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  const { token_endpoint: address } = await processDiscoveryResponse(issuer, answer)
  expect(address).toBe(`${api.href}/auth/token`)
})
