import { hash } from 'node:crypto'
import { Failure, unavailable } from '@automation/errors'
import { createRemoteJWKSet, decodeJwt, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { LRUCache } from 'lru-cache'
import type { ExternalIssuer } from '../config.ts'

const REMEMBER_MS = 60_000
const OWN_ALGORITHMS = ['EdDSA', 'Ed25519', 'ES256', 'RS256']
const EXTERNAL_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

interface Remembered {
  identity: Identity
  untilMs: number
}

/**
 * Verifies access tokens: our own against the catalog's keys, an external issuer's against its own. A verified token is
 * remembered by its digest for a minute, never beyond its end, so that a busy caller costs no signature check.
 */
export class TokenVerifier {
  readonly #issuer: string
  readonly #findKey: JWTVerifyGetKey
  readonly #external: ExternalIssuer | undefined
  readonly #findExternalKey: JWTVerifyGetKey | undefined
  readonly #remembered = new LRUCache<string, Remembered>({ max: 10_000 })

  /** `issuer` is the `iss` of our own tokens. */
  constructor(issuer: string, findKey: JWTVerifyGetKey, external: ExternalIssuer | undefined) {
    this.#issuer = issuer
    this.#findKey = findKey
    this.#external = external
    if (external !== undefined) this.#findExternalKey = externalKeys(external.jwksUrl)
  }

  /** Failures: unauthenticated (token_invalid, token_expired); unavailable when keys can't be read. */
  async verify(token: string): Promise<Identity> {
    const digest = hash('sha256', token, 'base64')
    const known = this.#remembered.get(digest)
    if (known !== undefined) {
      if (known.untilMs > Date.now()) return known.identity
      this.#remembered.delete(digest)
    }
    const claims = await this.#claimsOf(token)
    const identity = identityOf(claims)
    if (identity.subject === '') throw tokenInvalid()
    this.#remembered.set(digest, { identity, untilMs: Math.min(identity.endsMs, Date.now() + REMEMBER_MS) })
    return identity
  }

  async #claimsOf(token: string): Promise<JWTPayload> {
    try {
      if (this.#external !== undefined && this.#findExternalKey !== undefined) {
        const { issuer, audience } = this.#external
        if (decodeJwt(token).iss === issuer) {
          const rules = { issuer, audience, algorithms: EXTERNAL_ALGORITHMS, requiredClaims: ['exp', 'sub'] }
          return (await jwtVerify(token, this.#findExternalKey, rules)).payload
        }
      }
      const rules = { issuer: this.#issuer, algorithms: OWN_ALGORITHMS, requiredClaims: ['exp', 'sub'] }
      return (await jwtVerify(token, this.#findKey, rules)).payload
    } catch (error) {
      throw refusalOf(error)
    }
  }
}

/** Keys at an external address: what is wrong with the address, not with the token, is `unavailable`. */
function externalKeys(jwksUrl: string): JWTVerifyGetKey {
  const find = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 5_000, cooldownDuration: 5_000 })
  return async (header, token) => {
    try {
      return await find(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error
      throw unavailable('Tokens can not be verified at the moment', error)
    }
  }
}

function refusalOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof errors.JWTExpired)
    return new Failure('unauthenticated', 'token_expired', 'The access token has expired', { cause: error })
  return tokenInvalid(error)
}

function tokenInvalid(cause?: unknown): Failure {
  return new Failure('unauthenticated', 'token_invalid', 'The access token is not valid', { cause })
}

/** Who a verified access token speaks for. */
export interface Identity {
  subject: string
  name: string
  /** Teams that the token may act for. */
  groups: string[]
  scope: string
  /** Unix time in ms at which the token ends. */
  endsMs: number
}

/** Reads the claims of a verified token, ours or an external issuer's. */
function identityOf(claims: JWTPayload): Identity {
  const subject = textClaim(claims['client_id']) ?? textClaim(claims.sub) ?? ''
  const scope = claims['scope'] ?? claims['scp']
  return {
    subject,
    name: textClaim(claims['name']) ?? subject,
    groups: Array.isArray(claims['groups']) ? claims['groups'].filter((group) => typeof group === 'string') : [],
    scope: Array.isArray(scope) ? scope.join(' ') : (textClaim(scope) ?? ''),
    endsMs: (claims.exp ?? 0) * 1000,
  }
}

/** Whether a space-separated scope holds a word. */
export function hasScope(scope: string, word: string): boolean {
  return scope === word || scope.split(' ').includes(word)
}

function textClaim(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' ? claim : undefined
}
