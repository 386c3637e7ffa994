import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Environment } from '@automation/service'

/** A text as it is kept: the nonce, the tag and the ciphertext, and which key made it. */
export interface Sealed {
  ciphertext: Uint8Array<ArrayBuffer>
  keyId: string
}

const nonceBytes = 12
const tagBytes = 16

/** By how much a ciphertext is larger than its text. */
export const sealedExtraBytes = nonceBytes + tagBytes

/**
 * AES-256-GCM under the keys of ENCRYPTION_KEY: the first one seals, all of them open. Each secret is bound to its
 * context (`variable:<id>`), so that a ciphertext moved to another row does not open.
 */
export class SecretBox {
  readonly #keys = new Map<string, Buffer>()
  /** The id of the key that seals. */
  readonly keyId: string
  /** Of the other keys. */
  readonly olderKeyIds: string[]

  /** `secrets`: texts of any form with enough entropy; the newest first. */
  constructor(secrets: string[]) {
    for (const secret of secrets)
      this.#keys.set(derived(secret, 'key id', 4).toString('hex'), derived(secret, 'key', 32))
    const [first, ...others] = this.#keys.keys()
    if (first === undefined) throw new TypeError('A secret box needs a key')
    this.keyId = first
    this.olderKeyIds = others
  }

  knows(keyId: string): boolean {
    return this.#keys.has(keyId)
  }

  seal(plain: string, context: string): Sealed {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.keyId), nonce).setAAD(Buffer.from(context))
    const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return { ciphertext: new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), body])), keyId: this.keyId }
  }

  /** Throws where the key is unknown, or the ciphertext was changed or belongs to another context. */
  open({ ciphertext, keyId }: { ciphertext: Uint8Array; keyId: string }, context: string): string {
    const nonce = ciphertext.subarray(0, nonceBytes)
    const decipher = createDecipheriv('aes-256-gcm', this.#key(keyId), nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(context))
      .setAuthTag(ciphertext.subarray(nonceBytes, nonceBytes + tagBytes))
    const body = ciphertext.subarray(nonceBytes + tagBytes)
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  }

  #key(keyId: string): Buffer {
    const key = this.#keys.get(keyId)
    if (key === undefined) throw new Error(`ENCRYPTION_KEY holds no key with the id ${keyId}`)
    return key
  }
}

function derived(secret: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `process-catalog ${purpose}`, bytes))
}

const keyMinChars = 16

/** Reads ENCRYPTION_KEY: the first key encrypts, all of them decrypt. Faults are noted in `env`. */
export function readEncryptionKeys(env: Environment): string[] {
  const given = env.secret('ENCRYPTION_KEY')
  if (given === undefined) env.fault('ENCRYPTION_KEY', 'must be set')
  const keys = (given ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
  if (keys.some((key) => key.length < keyMinChars))
    env.fault('ENCRYPTION_KEY', `must be keys of at least ${keyMinChars} characters, separated by commas`)
  return keys
}
