import { hash } from 'node:crypto'
import { Failure, unavailable } from '@automation/errors'
import { createRemoteJWKSet, decodeJwt, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Principal } from '@automation/rpc'
import type { Logger } from '@automation/service'
import { isTeamSlug } from '@automation/contract/forms'
import { scopesIn } from '@automation/contract/scopes'
import type { ClaimRule, ExternalIssuer } from '../config.ts'

const REMEMBER_MS = 60_000
/** How often keys of an external issuer are read, how soon again after a failure, and how long they count without. */
const EXTERNAL_KEYS = { everyMs: 600_000, againMs: 30_000, keptMs: 3_600_000 }
/** OpenID Connect Core §2. */
export const LONGEST_SUB = 255
/** How far the clock of an external issuer may be from ours, either way. */
const EXTERNAL_CLOCK_S = 30
const SHOWN_CHARACTERS = 100
// A token of another issuer may claim to live for ever; later times can't be written.
const LAST_MS = Date.parse('9999-12-31T23:59:59Z')
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

/** Which access tokens are worth nothing before their end. */
interface EndedAccess {
  /** Those of ours of this client. */
  isRevoked(clientId: string): boolean
  /** Those for this team that were issued before, whoever has issued them; Unix time in ms. */
  accessFromMs(team: string): number
}

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
  readonly #ended: EndedAccess
  /** Rises when what is remembered is forgotten: what was being checked meanwhile is not remembered. */
  #generation = 0
  readonly #remembered = new LRUCache<string, Remembered>({ max: 10_000 })

  /** `issuer` is the `iss` of our own tokens; `ended` says which end before their time. */
  constructor(
    issuer: string,
    findKey: JWTVerifyGetKey,
    external: ExternalIssuer | undefined,
    { ended, logger }: { ended: EndedAccess; logger: Logger },
  ) {
    this.#ended = ended
    this.#issuer = issuer
    this.#findKey = findKey
    this.#external = external
    if (external !== undefined) this.#findExternalKey = externalKeys(external.jwksUrl, logger)
  }

  /**
   * `resource` is an address that an external issuer's token may be for, beside the audience that is configured. Failures:
   * unauthenticated (token_invalid, token_expired); unavailable when keys can't be read.
   */
  async verify(token: string, resource?: string): Promise<Identity> {
    // No header holds a newline, so a token that is sent never reads as an address and a token.
    const digest = hash('sha256', `${resource ?? ''}\n${token}`, 'base64')
    const known = this.#remembered.get(digest)
    if (known !== undefined) {
      if (known.untilMs > Date.now()) return this.unlessRevoked(known.identity)
      this.#remembered.delete(digest)
    }
    const generation = this.#generation
    const { claims, isOwn } = await this.#claimsOf(token, resource)
    const identity = isOwn ? identityOf(claims, true) : outsideIdentity(claims, this.#external)
    if (identity.subject === '' || identity.sub.length > LONGEST_SUB) throw tokenInvalid()
    if (generation === this.#generation)
      this.#remembered.set(digest, { identity, untilMs: Math.min(identity.endsMs, Date.now() + REMEMBER_MS) })
    return this.unlessRevoked(identity)
  }

  /** Signatures are checked anew: keys may have been taken away. */
  forget(): void {
    this.#generation += 1
    this.#remembered.clear()
  }

  /** Without the teams whose access has ended since. Failure token_invalid for a token that was revoked at once. */
  unlessRevoked(identity: Identity): Identity {
    if (identity.isOwn && this.#ended.isRevoked(identity.subject)) throw tokenInvalid()
    const endedIn = identity.groups.filter((team) => identity.issuedMs < this.#ended.accessFromMs(team))
    if (endedIn.length === 0) return identity
    return { ...identity, groups: identity.groups.filter((team) => !endedIn.includes(team)), endedIn }
  }

  async #claimsOf(token: string, resource: string | undefined): Promise<{ claims: JWTPayload; isOwn: boolean }> {
    if (!token.split('.').every(isWhole)) throw tokenInvalid()
    try {
      if (this.#external !== undefined && this.#findExternalKey !== undefined) {
        const { issuer, audience: configured } = this.#external
        if (decodeJwt(token).iss === issuer) {
          const audience = resource === undefined ? configured : [configured, resource]
          const rules = {
            issuer,
            audience,
            algorithms: EXTERNAL_ALGORITHMS,
            requiredClaims: ['exp', 'sub'],
            clockTolerance: EXTERNAL_CLOCK_S,
          }
          const { payload, protectedHeader } = await jwtVerify(token, this.#findExternalKey, rules)
          if (!isAccessTokenType(protectedHeader.typ)) throw tokenInvalid()
          return { claims: payload, isOwn: false }
        }
      }
      const rules = { issuer: this.#issuer, algorithms: OWN_ALGORITHMS, requiredClaims: ['exp', 'sub'] }
      return { claims: (await jwtVerify(token, this.#findKey, rules)).payload, isOwn: true }
    } catch (error) {
      throw this.#refusalOf(error)
    }
  }

  #refusalOf(error: unknown): Failure {
    if (error instanceof Failure) return error
    if (error instanceof errors.JWTExpired)
      return new Failure('unauthenticated', 'token_expired', 'The access token has expired', { cause: error })
    const isElsewhere = error instanceof errors.JWTClaimValidationFailed && error.claim === 'iss'
    return isElsewhere
      ? tokenInvalid(error, `: it was not issued by ${this.#issuer} (PUBLIC_URL)`)
      : tokenInvalid(error)
  }
}

/** Whether a part of a token is written as its issuer wrote it: else other letters would decode to the same. */
function isWhole(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part
}

/** An issuer signs other things for us with the same key, such as that a session has ended (`logout+jwt`); many name no type. */
function isAccessTokenType(type: string | undefined): boolean {
  return type === undefined || /^(?:application\/)?(?:at\+)?jwt$/i.test(type)
}

/**
 * Keys at an external address: what is wrong with the address, not with the token, is `unavailable`. Those that are known
 * count for a time while they can't be read again.
 */
function externalKeys(jwksUrl: string, logger: Logger): JWTVerifyGetKey {
  const { everyMs, againMs, keptMs } = EXTERNAL_KEYS
  const options = { timeoutDuration: 5_000, cooldownDuration: 5_000, cacheMaxAge: keptMs }
  const find = createRemoteJWKSet(new URL(jwksUrl), options)
  let nextMs = 0
  const readAgain = async () => {
    // `find` itself reads those that it has not.
    if (!find.fresh) nextMs = Date.now() + everyMs
    if (Date.now() < nextMs) return
    nextMs = Date.now() + againMs
    try {
      await find.reload()
      nextMs = Date.now() + everyMs
    } catch (error) {
      logger.warn({ err: error }, 'keys of the issuer can not be read again; those that are known count')
    }
  }
  return async (header, token) => {
    await readAgain()
    try {
      return await find(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error
      throw unavailable('Tokens can not be verified at the moment', error)
    }
  }
}

function tokenInvalid(cause?: unknown, why = ''): Failure {
  return new Failure('unauthenticated', 'token_invalid', `The access token is not valid${why}`, { cause })
}

/** Who an access token speaks for that the catalog has given out just now. */
export function identityOfIssued(accessToken: string): Identity {
  return identityOf(decodeJwt(accessToken), true)
}

/** Who a verified access token speaks for. */
export interface Identity {
  /** The OAuth client where the token names one, whoever uses it; else its `sub`. */
  subject: string
  /** Its `sub`, which tells people who use one client from each other. */
  sub: string
  name: string
  /** Teams that the token may act for. */
  groups: string[]
  /** Teams that it named, and in which it was ended. */
  endedIn?: readonly string[]
  /** What it allows: words of the scopes that there are, with spaces between. */
  scope: string
  /** What it allows beside that in single teams. */
  inTeams?: readonly Pick<ClaimRule, 'team' | 'scopes'>[]
  /** Unix time in ms at which the token was issued; 0 where it does not say. */
  issuedMs: number
  /** Unix time in ms at which the token ends. */
  endsMs: number
  /** Of one of ours: Unix time in ms at which what an external issuer has given its bearer ends. */
  accessEndsMs?: number
  /** It is one of ours, no external issuer's. */
  isOwn: boolean
}

/** Reads the claims of a verified token, ours or an external issuer's. */
function identityOf(claims: JWTPayload, isOwn: boolean): Identity {
  const subject = textClaim(claims['client_id']) ?? textClaim(claims.sub) ?? ''
  const sub = textClaim(claims.sub) ?? subject
  const name = textClaim(claims['name']) ?? subject
  return {
    subject,
    sub,
    name: isOwn ? name : outsideName(name, sub, claims.iss),
    groups: Array.isArray(claims['groups']) ? claims['groups'].filter((group) => typeof group === 'string') : [],
    scope: scopesIn(valuesOf(claims, 'scope').join(' ')).join(' '),
    issuedMs: (claims.iat ?? 0) * 1000,
    endsMs: Math.min(((claims.exp ?? 0) + (isOwn ? 0 : EXTERNAL_CLOCK_S)) * 1000, LAST_MS),
    ...(isOwn && typeof claims['access_ends'] === 'number' && { accessEndsMs: claims['access_ends'] * 1000 }),
    isOwn,
  }
}

/** Whoever comes from outside may be called anything: records tell by subject and issuer who it is. */
export function outsideName(name: string, sub: string, issuer: string | undefined): string {
  return `${name.slice(0, SHOWN_CHARACTERS)} (${sub}, ${issuer})`.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ').toWellFormed()
}

/** Whom claims of an external issuer name. Its own words `read` or `admin` mean nothing here, unless a rule says what. */
export function outsideIdentity(
  claims: JWTPayload,
  { scopes: rules = [EXECUTOR_ALONE], groupsPrefix = '' }: Pick<ExternalIssuer, 'scopes' | 'groupsPrefix'> = {},
): Identity {
  const identity = identityOf(claims, false)
  const named = identity.groups.filter((group) => group.startsWith(groupsPrefix))
  const groups = [...new Set(named.map((group) => group.slice(groupsPrefix.length)))]
  const given = rules.filter(({ claim, value }) => valuesOf(claims, claim).includes(value))
  const everywhere = given.filter(({ team }) => team === undefined)
  const scope = [...new Set(everywhere.flatMap(({ scopes }) => scopes))].join(' ')
  return { ...identity, groups, scope, inTeams: given.filter(({ team }) => team !== undefined) }
}

const EXECUTOR_ALONE: ClaimRule = { claim: 'scope', value: 'executor', scopes: ['executor'] }

/**
 * The values of a claim: the members of a list, each whole, as others may choose names with spaces; or a text, of which
 * that of the scope alone is words. Some issuers call the scope `scp`.
 */
function valuesOf(claims: JWTPayload, name: string): string[] {
  const own = Object.hasOwn(claims, name) ? claims[name] : undefined
  const claim = own ?? (name === 'scope' ? claims['scp'] : undefined)
  if (Array.isArray(claim)) return claim.filter((one) => typeof one === 'string')
  if (typeof claim !== 'string') return []
  return name === 'scope' || name === 'scp' ? claim.split(' ') : [claim]
}

function textClaim(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' ? claim : undefined
}

// An access token has dots, which neither form of an API token has: `sk-` and base64, or base64 of a JSON object.
const API_TOKEN = /^(?:sk-|eyJ)[A-Za-z0-9+/_=-]*$/

/** Whether a token is an API token in either of its forms, to be exchanged for an access token. */
export function isApiToken(token: string): boolean {
  return API_TOKEN.test(token)
}

/**
 * The token of an `Authorization: Bearer` header, for calls on a team. Failures: token_missing; token_invalid for an API
 * token, which is to be exchanged first.
 */
export function bearerToken(header: string | undefined, team: string): string {
  const token = header !== undefined && /^bearer /i.test(header) ? header.slice(7).trim() : ''
  if (token === '')
    throw new Failure(
      'unauthenticated',
      'token_missing',
      `An access token is needed, in the header Authorization: Bearer <access token>. ${exchangeHint(team)}`,
    )
  if (isApiToken(token))
    throw new Failure(
      'unauthenticated',
      'token_invalid',
      `This is an API token, no access token. ${exchangeHint(team)}`,
    )
  return token
}

function exchangeHint(team: string): string {
  const named = isTeamSlug(team) ? team : '{team}'
  return `POST /api/${named}/rest/auth/token exchanges an API token, in the header x-api-token, for an access token`
}

/** What a stranger gets. */
export function notOfTheTeam(): Failure {
  return new Failure('permission_denied', 'forbidden', 'The access token does not allow this')
}

/** The scope that an identity has in a team. */
export function scopeIn({ scope, inTeams = [] }: Identity, wanted: string): string {
  const own = inTeams.filter(({ team }) => team === wanted).flatMap(({ scopes }) => scopes)
  return own.length === 0 ? scope : [...new Set([...scopesIn(scope), ...own])].join(' ')
}

/**
 * The principal that acts for a team. A token of another team is refused alike for teams that exist, teams that don't,
 * and what is no team's name at all.
 */
export function principalFor(identity: Identity, team: string, initiatedBy: string | undefined, ip: string): Principal {
  if (identity.endedIn?.includes(team)) throw tokenInvalid()
  if (!identity.groups.includes(team) || !isTeamSlug(team)) throw notOfTheTeam()
  return {
    role: 'user',
    team,
    subject: identity.subject,
    name: identity.name,
    scope: scopeIn(identity, team),
    ...(initiatedBy !== undefined && { initiatedBy }),
    ip,
  }
}
