import { randomUUID } from 'node:crypto'
import type { SecretBox } from '@automation/database'
import { exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose'
import { systemOf } from '../store/audit.ts'
import * as kept from '../store/signing-keys.ts'
import type { Store } from '../store/store.ts'

/** The keys that sign access tokens. The database says which one signs; private halves are opened once and kept in memory. */
export class SigningKeys {
  readonly #store: Store
  readonly #box: SecretBox
  readonly #tokenTtlS: number
  readonly #opened = new Map<string, Promise<CryptoKey>>()

  constructor(store: Store, box: SecretBox, tokenTtlS: number) {
    this.#store = store
    this.#box = box
    this.#tokenTtlS = tokenTtlS
  }

  /** Makes the first key where there is none. */
  async ensure(): Promise<void> {
    await kept.keepFirstKey(this.#store, await this.#generated(), this.#tokenTtlS)
  }

  /** A new key signs from now on; whether it was this call that put it there. */
  async rotate(by: kept.Rotator, minAgeDays = 0): Promise<boolean> {
    return kept.replaceKey(this.#store, await this.#generated(), this.#tokenTtlS, minAgeDays, by)
  }

  /** From now on no token of a former key is valid. */
  endFormer(by: kept.Rotator): Promise<void> {
    return kept.endFormerKeys(this.#store, by)
  }

  /** Rotates where the key that signs is at least so old, and forgets keys whose tokens have all ended. */
  async upkeep(maxAgeDays: number): Promise<void> {
    if (await kept.keyIsOlderThan(this.#store, maxAgeDays)) await this.rotate(systemOf(''), maxAgeDays)
    await kept.removeEndedKeys(this.#store)
  }

  /** The private half of a key that the database named. */
  privateKey(kid: string): Promise<CryptoKey> {
    const known = this.#opened.get(kid)
    if (known !== undefined) return known
    const opened = this.#open(kid)
    this.#opened.set(kid, opened)
    opened.catch(() => this.#opened.delete(kid))
    return opened
  }

  /** A JSON Web Key Set, as JSON text, of all public keys that a live token may be signed with. */
  async keySet(): Promise<string> {
    return `{"keys":[${(await kept.verifiableKeys(this.#store)).join(',')}]}`
  }

  async #open(kid: string): Promise<CryptoKey> {
    const key = await kept.findKey(this.#store, kid)
    return (await importJWK(
      JSON.parse(this.#box.open(key, signingKeyContext(kid))) as JWK,
      signingAlgorithm,
    )) as CryptoKey
  }

  async #generated(): Promise<kept.KeptKey> {
    const kid = randomUUID()
    const pair = await generateKeyPair(signingAlgorithm, { extractable: true })
    const publicKey = { ...(await exportJWK(pair.publicKey)), kid, alg: signingAlgorithm, use: 'sig' }
    const privateKey = JSON.stringify(await exportJWK(pair.privateKey))
    return { kid, publicKey: JSON.stringify(publicKey), ...this.#box.seal(privateKey, signingKeyContext(kid)) }
  }
}

/** Where a private key is sealed: in its own row only. */
export function signingKeyContext(kid: string): string {
  return `signing-key:${kid}`
}

const signingAlgorithm = 'ES256'

interface AccessTokenClaims {
  /** The address of the system, PUBLIC_URL. */
  issuer: string
  clientId: string
  /** What `createdBy` shows. */
  name: string
  /** Those that it is for. */
  teams: string[]
  /** Words with spaces between. */
  scope: string
  issuedAtS: number
  ttlS: number
  id: string
  /** When what its bearer may do ends, where an issuer outside has given it. */
  accessEndsAtS?: number
}

/** Signs an access token: a JWT whose `groups` names the teams that it is for. */
export function signAccessToken(claims: AccessTokenClaims, kid: string, key: CryptoKey): Promise<string> {
  const { issuer, clientId, name, teams, scope, issuedAtS, ttlS, id, accessEndsAtS } = claims
  return new SignJWT({ client_id: clientId, name, groups: teams, scope, access_ends: accessEndsAtS })
    .setProtectedHeader({ alg: signingAlgorithm, kid, typ: 'JWT' })
    .setIssuer(issuer)
    .setSubject(clientId)
    .setIssuedAt(issuedAtS)
    .setExpirationTime(issuedAtS + ttlS)
    .setJti(id)
    .sign(key)
}
