import { Failure } from '@automation/errors'
import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Caller } from './callers.ts'
import { asRunnerWith, asRunWith, type Principal, type Role } from './context.ts'
import { isPoolToken } from './pool-token.ts'
import { unreadRights } from './run-token.ts'
import { notBelievedCode } from './status.ts'
import { candidates, isPodName, readKeyRing, runnerKeyOf, type KeyRing, type RingKey } from './key-ring.ts'

/** Says who calls: with the keys of the services, or with those of the runners. A run's calls carry the run's own token. */
export type SigningKey = { internalKey: string } | { runnerKey: string }

const lifetimeS = 60
const renewBeforeMs = 20_000
const audience = 'automation-internal'
const servicesOfRuns = new Set([
  'automation.run.v1.RunService',
  'automation.storage.v1.StorageService',
  'automation.storage.v1.DatastoreService',
  'automation.storage.v1.PackageSetService',
])
const runnerService = 'automation.runner.v1.RunnerService'
const roles = new Set<Role>(['operator', 'user', 'service', 'runner'])

/** The key id in the tokens of runners, whichever of their shared keys signs. */
const runnerId = 'runner'

// Names that callers give are in them.
const cachedCharacters = 4 * 1024 * 1024

/** Makes the `authorization` of a principal's calls; one signature serves all of its calls for 40 s. */
export function signer(key: SigningKey): (principal: Principal) => string | Promise<string> {
  const runner = 'runnerKey' in key
  const { signing } = readKeyRing(runner ? key.runnerKey : key.internalKey)
  const cache = new LRUCache<string, { text: string; signedAtMs: number }>({
    max: 2000,
    maxSize: cachedCharacters,
    sizeCalculation: ({ text }, name) => text.length + name.length,
  })
  return (principal) => {
    if (principal.role === 'run' || principal.token !== undefined) return `Bearer ${principal.token ?? ''}`
    const name = JSON.stringify(principal)
    const known = cache.get(name)
    // One that was signed by a clock that was ahead is not believed when that is set right.
    const ageMs = Date.now() - (known?.signedAtMs ?? 0)
    if (known !== undefined && ageMs >= 0 && ageMs < lifetimeS * 1000 - renewBeforeMs) return known.text
    const signedAtMs = Date.now()
    return sign(principal).then((text) => {
      cache.set(name, { text, signedAtMs })
      return text
    })
  }

  async function sign({ role, team, subject, name, scope, initiatedBy, ip }: Principal): Promise<string> {
    if (signing?.signs === undefined) throw refused(new Error('INTERNAL_KEY has only the public halves of keys'))
    const token = await new SignJWT({ role, team, name, scope, initiatedBy, ip })
      .setProtectedHeader({ alg: signing.alg, kid: runner && signing.caller === undefined ? runnerId : signing.id })
      .setSubject(subject)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(`${lifetimeS}s`)
      .sign(signing.signs)
    return `Bearer ${token}`
  }
}

interface Verified {
  principal: Principal
  /** Whose key it was; undefined for one that speaks for everybody. */
  caller: Caller | undefined
  expiresMs: number
}

/**
 * Reads a call's `authorization`. The runners' key is good for RunnerService in the role `runner` alone, as are the key of a
 * pod and a pool's token. A call to a service of runs may carry a run's token. Tokens are handed on unread: the service
 * verifies them, in process and over the wire alike. A key of one caller's own is good for what that caller does.
 */
export function verifier(keys: {
  internalKey: string
  runnerKey?: string
}): (authorization: string, service: string, method: string) => Principal | Promise<Principal> {
  const internal = readKeyRing(keys.internalKey)
  const runner = readKeyRing(keys.runnerKey ?? runnerKeyOf(keys.internalKey))
  const cache = new LRUCache<string, Verified>({ max: 5000 })
  return (authorization, service, method) => {
    if (!authorization.startsWith('Bearer ')) throw refused()
    const token = authorization.slice('Bearer '.length)
    if (servicesOfRuns.has(service) && isRunToken(token)) return asRunWith(token)
    if (service === runnerService && isPoolToken(token)) return asRunnerWith(token)
    const known = cache.get(token)
    if (known !== undefined && known.expiresMs > Date.now()) return allowed(known, service, method)
    return verify(token).then((verified) => {
      cache.set(token, verified)
      return allowed(verified, service, method)
    })
  }

  async function verify(token: string): Promise<Verified> {
    try {
      const { kid } = decodeProtectedHeader(token)
      const isRunner = kid === runnerId || isPodName(kid)
      const { payload, key } = await verifiedBy(isRunner ? runner : internal, kid, token)
      const { role, team, sub = '', name, scope, initiatedBy, ip, exp = 0 } = payload as unknown as Claims
      if (!roles.has(role) || (isRunner && role !== 'runner')) throw refused()
      const claimed = { role, team, subject: sub, name, scope, initiatedBy, ip }
      return { principal: key.caller?.speaksAs(claimed) ?? claimed, caller: key.caller, expiresMs: exp * 1000 }
    } catch (thrown) {
      if (thrown instanceof errors.JOSEError || thrown instanceof TypeError) throw refused(thrown)
      throw thrown
    }
  }
}

type Claims = Omit<Principal, 'subject' | 'token' | 'pod'> & { sub?: string; exp?: number }

/** The payload of a token, and which of the keys that its id leads to signed it. JOSEError where none did. */
async function verifiedBy(ring: KeyRing, id: string | undefined, token: string) {
  let last: unknown
  for (const key of candidates(ring, id)) {
    try {
      return { payload: await payloadOf(token, key), key }
    } catch (thrown) {
      if (!(thrown instanceof errors.JWSSignatureVerificationFailed)) throw thrown
      last = thrown
    }
  }
  throw refused(last)
}

async function payloadOf(token: string, { alg, verifies }: RingKey): Promise<object> {
  const { payload } = await jwtVerify(token, verifies, {
    algorithms: [alg],
    audience,
    requiredClaims: ['sub', 'iat', 'exp'],
    clockTolerance: 5,
    maxTokenAge: lifetimeS,
  })
  return payload
}

function allowed({ principal, caller }: Verified, service: string, method: string): Principal {
  if (principal.role === 'runner' && service !== runnerService)
    throw new Failure('permission_denied', 'permission_denied', 'A runner may not call this service')
  if (caller !== undefined && !caller.mayCall(principal, service, method)) {
    const needs = caller.needs === undefined ? '' : `: ${caller.needs(service, method)}`
    throw new Failure(
      'permission_denied',
      'permission_denied',
      `The key of this caller is not good for this call${needs}`,
    )
  }
  return principal
}

/** Run tokens are signed with another key and name no audience; this only tells them apart. */
function isRunToken(token: string): boolean {
  return (unreadRights(token) as { aud?: unknown } | undefined)?.aud !== audience
}

function refused(cause?: unknown): Failure {
  return new Failure('unauthenticated', notBelievedCode, 'The call carries no valid credentials', { cause })
}
