import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'

/** An issuer where everybody who comes is Ada, and may be let in no longer. */
export interface ConsoleIssuer {
  url: string
  client: { id: string; secret: string }
  /** The teams that Ada is told to be of. */
  groups: string[]
  /** Ada is known no more. */
  forget(): void
  close(): Promise<void>
}

/** Starts one on loopback for a console at this origin. */
export async function startIssuer(console: string): Promise<ConsoleIssuer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = { id: 'console', secret: 'a secret of the client, which is long' }
  let isKnown = true
  const issuer: ConsoleIssuer = {
    url,
    client,
    groups: ['demo'],
    forget: () => (isKnown = false),
    close: async () => {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(url, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [`${console}/session/oidc/callback`],
        post_logout_redirect_uris: [`${console}/sign-in`],
      },
    ],
    claims: { openid: ['sub'], profile: ['name'], groups: ['groups'] },
    findAccount: (_context, id) =>
      isKnown ? { accountId: id, claims: () => ({ sub: id, name: 'Ada Lövelace', groups: issuer.groups }) } : undefined,
    loadExistingGrant: async ({ oidc }) => {
      const { session, client: asking } = oidc
      const grant = new provider.Grant({ clientId: asking?.clientId, accountId: session?.accountId })
      grant.addOIDCScope('openid profile groups offline_access')
      await grant.save()
      return grant
    },
    issueRefreshToken: () => true,
    features: { devInteractions: { enabled: false }, revocation: { enabled: true, allowedPolicy: () => true } },
    pkce: { required: () => true },
    cookies: { keys: ['a key of the issuer'] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig' }] },
    rotateRefreshToken: true,
    ttl: { AccessToken: 60, IdToken: 60, RefreshToken: 600, Interaction: 600, Grant: 600, Session: 600 },
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) return void answer(request, response)
    void provider.interactionFinished(request, response, { login: { accountId: 'ada' } })
  })
  return issuer
}
