import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'

/** An OIDC issuer on loopback with a page on which a person signs in. */
export interface Issuer {
  url: string
  /** What a system is told to sign people in there. */
  settings: Record<string, string>
  /** Answers for the console at this origin, whose people are of this team. */
  open(console: string, team: string): Promise<void>
  close(): Promise<void>
}

const client = { id: 'console', secret: 'the secret of the console at its issuer' }
const signInPage = `<!doctype html><html lang="en"><title>Issuer</title><form method="post">
<label>Login <input name="login" required autofocus></label><button>Let me in</button></form></html>`

/** Takes a port; it answers once the origin of the console is known. */
export async function startIssuer(): Promise<Issuer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    settings: {
      OIDC_ISSUER: url,
      OIDC_AUDIENCE: 'automation',
      OIDC_JWKS_URL: `${url}/jwks`,
      OIDC_SCOPES: 'scope:openid=read run build',
      OIDC_CLIENT_ID: client.id,
      OIDC_CLIENT_SECRET: client.secret,
    },
    open: async (console, team) => {
      const provider = await providerAt(url, console, team)
      const answer = provider.callback()
      server.on('request', (request, response) => {
        if (request.url?.startsWith('/interaction/') !== true) return void answer(request, response)
        if (request.method !== 'POST') return void response.setHeader('content-type', 'text/html').end(signInPage)
        void provider.interactionFinished(request, response, { login: { accountId: 'ada' } })
      })
    },
    close: async () => {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

async function providerAt(url: string, console: string, team: string): Promise<Provider> {
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
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: 'Ada Lövelace', groups: [team] }),
    }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId })
      grant.addOIDCScope('openid profile groups offline_access')
      await grant.save()
      return grant
    },
    issueRefreshToken: () => true,
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true, allowedPolicy: () => true } },
    pkce: { required: () => true },
    cookies: { keys: ['a key of the issuer'] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig' }] },
    ttl: { AccessToken: 60, IdToken: 60, RefreshToken: 600, Interaction: 600, Grant: 600, Session: 600 },
  })
  return provider
}
