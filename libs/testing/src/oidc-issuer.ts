import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import { listening } from './listening.ts'

/** An OIDC issuer on loopback, by which people sign in at a console. All who come are Ada. */
export interface OidcIssuer {
  url: string
  /** What a system is told, so that people of its console sign in here. */
  settings: Record<string, string>
  /** As whom Ada is known. */
  subject: string
  /** What Ada calls herself. */
  name: string
  /** The groups that Ada is told to be of. */
  groups: string[]
  /** May change what it answers at a path, and when. */
  change: (path: string, answer: { status: number; body: unknown }) => void | Promise<void>
  /** Answers from now on, for the console at this origin; before that nobody is answered. */
  open(console: string): void
  /** Ada is known no more. */
  forget(): void
  close(): Promise<void>
}

interface OidcIssuerOptions {
  /** People see a page on which they sign in; else they are let in at once. */
  hasPage?: boolean
  /** Whether it tells of people beside the id token. */
  hasUserinfo?: boolean
}

const client = { id: 'console', secret: 'the secret of the console at its issuer' }
const signInPage = `<!doctype html><html lang="en"><title>Issuer</title><form method="post">
<label>Login <input name="login" required autofocus></label><button>Let me in</button></form></html>`

/** Takes a port; it answers once it is opened for a console. */
export async function startOidcIssuer({
  hasPage = false,
  hasUserinfo = true,
}: OidcIssuerOptions = {}): Promise<OidcIssuer> {
  const server = createServer()
  const { url, close } = await listening(server)
  let isKnown = true
  const issuer: OidcIssuer = {
    url,
    settings: {
      OIDC_ISSUER: url,
      OIDC_AUDIENCE: 'automation',
      OIDC_JWKS_URL: `${url}/jwks`,
      OIDC_CLIENT_ID: client.id,
      OIDC_CLIENT_SECRET: client.secret,
    },
    subject: 'ada',
    name: 'Ada Lövelace',
    groups: [],
    change: () => undefined,
    open: (console) => {
      const provider = providerAt(url, { console, hasUserinfo }, () => (isKnown ? issuer : undefined))
      provider.use(async (context, next) => {
        await next()
        await issuer.change(context.path, context)
      })
      const answer = provider.callback()
      server.on('request', (request, response) => {
        if (request.url?.startsWith('/interaction/') !== true) return void answer(request, response)
        if (hasPage && request.method !== 'POST')
          return void response.setHeader('content-type', 'text/html').end(signInPage)
        void provider.interactionFinished(request, response, { login: { accountId: issuer.subject } })
      })
    },
    forget: () => (isKnown = false),
    close,
  }
  return issuer
}

type Claims = Pick<OidcIssuer, 'name' | 'groups'>

/** `claimsNow` gives the claims of who signs in, undefined for nobody. */
function providerAt(
  url: string,
  { console, hasUserinfo }: { console: string; hasUserinfo: boolean },
  claimsNow: () => Claims | undefined,
): Provider {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
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
    findAccount: (_context, id) => {
      const { name, groups } = claimsNow() ?? {}
      return groups && { accountId: id, claims: () => ({ sub: id, name, groups }) }
    },
    loadExistingGrant: async ({ oidc }) => {
      // Who comes back is given what belongs to the grant of before, as issuers do.
      const known = oidc.session?.grantIdFor(client.id)
      const former = known === undefined ? undefined : await provider.Grant.find(known)
      if (former !== undefined) return former
      const grant = new provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId })
      grant.addOIDCScope('openid profile groups offline_access')
      await grant.save()
      return grant
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: hasUserinfo },
      revocation: { enabled: true, allowedPolicy: () => true },
    },
    pkce: { required: () => true },
    cookies: { keys: ['a key of the issuer'] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] },
    ttl: { AccessToken: 60, IdToken: 60, RefreshToken: 600, Interaction: 600, Grant: 600, Session: 600 },
  })
  return provider
}
