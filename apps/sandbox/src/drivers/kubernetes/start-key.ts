import { createHash, createHmac, randomBytes } from 'node:crypto'

/** What a pod carries of its start key: nothing of it opens its daemon. */
export interface StartMark {
  nonce: string
  /** Of the key, in hexadecimal. */
  digest: string
}

const nonceBytes = 16

/**
 * The keys that daemons of pods are started with. Any replica makes one anew from its secrets and what the pod carries,
 * so no key is kept anywhere; it is void once the daemon has its sandbox.
 */
export class StartKeys {
  readonly #secrets: string[]

  /** `secrets`: those of ENCRYPTION_KEY; the first one makes new keys. */
  constructor(secrets: string[]) {
    this.#secrets = secrets
  }

  newMark(): StartMark {
    const nonce = randomBytes(nonceBytes).toString('hex')
    return { nonce, digest: digestOf(keyOf(this.#secrets[0] ?? '', nonce)) }
  }

  /** Undefined when none of the secrets made it. */
  keyOf({ nonce, digest }: StartMark): string | undefined {
    return this.#secrets.map((secret) => keyOf(secret, nonce)).find((key) => digestOf(key) === digest)
  }
}

function keyOf(secret: string, nonce: string): string {
  return createHmac('sha256', secret).update(`start key of a sandbox's daemon:${nonce}`).digest('base64url')
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
