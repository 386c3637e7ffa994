import { Failure, unavailable } from '@automation/errors'
import { isTeamSlug } from '@automation/contract/forms'
import { scopesIn } from '@automation/contract/scopes'
import { decodeJwt } from 'jose'
import * as oidc from 'openid-client'
import { LONGEST_SUB, outsideIdentity, outsideName, scopeIn } from '../../auth/token-verifier.ts'
import type { ConsoleClient } from '../../config.ts'
import type { SignedIn } from './signed-in.ts'

const timeoutS = 10
const rediscoverMs = 3_600_000

/** How often the issuer is asked whether somebody may still come in, at the most and at the least. */
const renewalS = { least: 60, most: 3600 }

/** What an attempt to sign in is finished with, beside what the issuer sends. */
export interface Flow {
  state: string
  nonce: string
  verifier: string
}

/** What is kept of a session to speak to its issuer with. */
interface Secrets {
  subject: string
  /** Of what the issuer has given; it need not say it again with what it gives next. */
  scope?: string
  refreshToken?: string
  idToken?: string
}

type Claims = Record<string, unknown> & { sub: string }

/** The issuer where people sign in: authorization code with PKCE, renewal, and the end. */
export class Issuer {
  readonly #client: ConsoleClient
  readonly #redirectUri: string
  readonly #homeUri: string
  #found: { configuration: Promise<oidc.Configuration>; atMs: number } | undefined

  /** `origin` is that of the console. */
  constructor(client: ConsoleClient, origin: string) {
    this.#client = client
    this.#redirectUri = `${origin}/session/oidc/callback`
    this.#homeUri = `${origin}/sign-in`
  }

  /** Where a browser is sent to begin, and what is kept meanwhile. Failure unavailable. */
  async begin(): Promise<{ url: string; flow: Flow }> {
    const configuration = await this.#configuration()
    const flow = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    }
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri,
      scope: this.#scopes(configuration).join(' '),
      code_challenge: await oidc.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
      state: flow.state,
      nonce: flow.nonce,
    })
    return { url: url.href, flow }
  }

  /** Who comes back with this query. Failures: sign_in_refused where the issuer says no, unavailable. */
  async finish(query: string, { state, nonce, verifier }: Flow): Promise<SignedIn> {
    const configuration = await this.#configuration()
    const url = new URL(`${this.#redirectUri}?${query}`)
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
    const tokens = await answered(oidc.authorizationCodeGrant(configuration, url, checks))
    return this.#signedIn(configuration, tokens, {})
  }

  /** What the issuer says of somebody now. Failures: sign_in_refused, after which the session ends; unavailable. */
  async renew(kept: string): Promise<SignedIn> {
    const known = secretsIn(kept)
    if (known.refreshToken === undefined) throw refused()
    const configuration = await this.#configuration()
    const tokens = await answered(oidc.refreshTokenGrant(configuration, known.refreshToken))
    return this.#signedIn(configuration, tokens, known)
  }

  /** Whom a session is of; undefined where it is not of the issuer. */
  subjectOf(kept: string): string | undefined {
    return secretsIn(kept).subject
  }

  /** Takes back what the issuer has given, where it can be. Failures: sign_in_refused, unavailable. */
  async takeBack(kept: string): Promise<void> {
    const { refreshToken } = secretsIn(kept)
    if (refreshToken === undefined) return
    const configuration = await this.#configuration()
    if (configuration.serverMetadata().revocation_endpoint === undefined) return
    await answered(oidc.tokenRevocation(configuration, refreshToken))
  }

  /** Where a browser is sent to be signed out at the issuer, where it can be. Failure unavailable. */
  async wayOut(kept: string): Promise<string | undefined> {
    if (kept === '') return undefined
    const { idToken } = secretsIn(kept)
    const configuration = await this.#configuration()
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined
    const parameters = {
      post_logout_redirect_uri: this.#homeUri,
      ...(idToken !== undefined && { id_token_hint: idToken }),
    }
    return oidc.buildEndSessionUrl(configuration, parameters).href
  }

  async #signedIn(
    configuration: oidc.Configuration,
    tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
    known: Partial<Secrets>,
  ): Promise<SignedIn> {
    const fromIdToken = tokens.claims() as Claims | undefined
    const subject = known.subject ?? fromIdToken?.sub
    if (subject === undefined || (fromIdToken !== undefined && fromIdToken.sub !== subject)) throw refused()
    if (subject.length > LONGEST_SUB) throw subjectTooLong()
    const told = this.#allClaims(configuration, tokens.access_token, subject, fromIdToken, known.idToken)
    const claims = { ...(await told) }
    const scope = tokens.scope ?? known.scope
    if (scope !== undefined) claims['scope'] ??= scope
    const identity = outsideIdentity(claims, this.#client)
    const refreshToken = tokens.refresh_token ?? known.refreshToken
    const idToken = tokens.id_token ?? known.idToken
    const secrets: Secrets = {
      subject,
      ...(scope !== undefined && { scope }),
      ...(refreshToken !== undefined && { refreshToken }),
      ...(idToken !== undefined && { idToken }),
    }
    const inS = Math.min(Math.max(tokens.expires_in ?? renewalS.most, renewalS.least), renewalS.most)
    return {
      subject,
      name: outsideName(nameIn(claims) ?? subject, subject, configuration.serverMetadata().issuer),
      grants: identity.groups
        .filter((team) => isTeamSlug(team))
        .map((team) => ({ team, scopes: scopesIn(scopeIn(identity, team)) }))
        .filter(({ scopes }) => scopes.length > 0),
      renewInMs: refreshToken === undefined ? undefined : inS * 1000,
      secrets: JSON.stringify(secrets),
    }
  }

  /**
   * Those of the id token; where that names no teams, with those that the issuer tells beside it. One that tells nothing
   * beside it, and gives no new one, has changed nothing of the one that is known.
   */
  async #allClaims(
    configuration: oidc.Configuration,
    accessToken: string,
    subject: string,
    fromIdToken: Claims | undefined,
    knownIdToken: string | undefined,
  ): Promise<Claims> {
    const own: Claims = fromIdToken ?? { sub: subject }
    if (own['groups'] !== undefined) return own
    if (configuration.serverMetadata().userinfo_endpoint === undefined)
      return fromIdToken === undefined && knownIdToken !== undefined ? decodeJwt<Claims>(knownIdToken) : own
    return { ...(await answered(oidc.fetchUserInfo(configuration, accessToken, subject))), ...own }
  }

  /** What is asked for, of what the issuer says that it has. */
  #scopes(configuration: oidc.Configuration): string[] {
    const { scopes_supported: offered } = configuration.serverMetadata()
    const { scopes: rules } = this.#client
    const inRules = rules?.filter(({ claim }) => claim === 'scope').map(({ value }) => value) ?? ['executor']
    const wanted = ['profile', 'email', 'groups', 'offline_access', ...inRules]
    return ['openid', ...wanted.filter((scope) => offered?.includes(scope) === true)]
  }

  /** Failure unavailable. */
  async #configuration(): Promise<oidc.Configuration> {
    if (this.#found === undefined || performance.now() - this.#found.atMs > rediscoverMs) {
      const configuration = this.#discover()
      const found = { configuration, atMs: performance.now() }
      this.#found = found
      configuration.catch(() => {
        if (this.#found === found) this.#found = undefined
      })
    }
    return this.#found.configuration
  }

  #discover(): Promise<oidc.Configuration> {
    const { issuer, id, secret } = this.#client
    // Only on this machine, by the settings.
    const execute = [
      oidc.enableNonRepudiationChecks,
      ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []),
    ]
    return answered(oidc.discovery(new URL(issuer), id, secret, undefined, { execute, timeout: timeoutS }))
  }
}

function secretsIn(kept: string): Partial<Secrets> {
  return JSON.parse(kept === '' ? '{}' : kept) as Partial<Secrets>
}

/** The issuer does not let somebody in, or no longer. */
function refused(cause?: unknown): Failure {
  return new Failure('unauthenticated', 'sign_in_refused', 'The issuer has not let you in', { cause })
}

function subjectTooLong(): Failure {
  const text = `The issuer names you by a sub of more than ${LONGEST_SUB} characters, which OpenID Connect does not allow`
  return new Failure('unauthenticated', 'sign_in_refused', text)
}

/** Tells an issuer that says no from one that says nothing. */
async function answered<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const isNo = error instanceof oidc.ResponseBodyError || error instanceof oidc.AuthorizationResponseError
    if (isNo && !isTheirFault(error)) throw refused(error)
    throw unavailable('The issuer does not answer as it should, try again', error)
  }
}

function isTheirFault(error: oidc.ResponseBodyError | oidc.AuthorizationResponseError): boolean {
  const isTooOften = error instanceof oidc.ResponseBodyError && error.status === 429
  return isTooOften || error.error === 'server_error' || error.error === 'temporarily_unavailable'
}

function nameIn(claims: Claims): string | undefined {
  const texts = [claims['name'], claims['preferred_username'], claims['email']]
  return texts.find((text): text is string => typeof text === 'string' && text.trim() !== '')
}
