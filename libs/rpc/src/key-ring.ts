import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  X509Certificate,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { callerOf, operatorScopes, runnerOf, type Caller } from './callers.ts'
import type { RunnerPodId } from './context.ts'

/** A key that says who calls: one text that all who call each other share, or one of a pair that is one caller's own. */
export interface RingKey {
  /** Of what both sides know of it; tells it from the others in a token. */
  id: string
  alg: 'HS256' | 'EdDSA'
  /** Whose it is; a key without speaks for everybody. */
  caller: Caller | undefined
  /** Absent where only the public half is known. */
  signs: KeyObject | undefined
  verifies: KeyObject
}

/** The keys of INTERNAL_KEY or RUNNER_KEY: the first that can, signs; all of them verify. */
export interface KeyRing {
  /** Undefined where there are only public halves. */
  signing: RingKey | undefined
  keys: RingKey[]
}

/** Why a text is no key ring, to be shown behind the name of its setting. */
export class KeyRingError extends Error {
  override readonly name = 'KeyRingError'
}

export const keyMinChars = 32

const pairForm = /^([^:]+):(private|public|certificate):(.+)$/
const podForm = /^pod\/([a-z0-9][a-z0-9-]{0,62})\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/
const podKeyForm = /^(pod\/[^:]+):key:([0-9a-f]{64})$/

/**
 * Reads keys separated by commas or lines. Each is a text, or `CALLER:private:BASE64`, `CALLER:public:BASE64` or
 * `CALLER:certificate:BASE64` with the DER of an Ed25519 key (PKCS#8, SPKI) or of a certificate of one, or
 * `pod/POOL/UUID:key:HEX`, which is one runner pod's own. A KeyRingError names by its number the key that can't be read, or
 * that is shorter than `minChars`.
 */
export function readKeyRing(text: string, minChars = 1): KeyRing {
  const entries = entriesOf(text)
  if (entries.length === 0) throw new KeyRingError('must be set')
  const keys = entries.map((entry, index) => readKey(entry, index + 1, minChars))
  return { signing: keys.find(({ signs }) => signs !== undefined), keys }
}

/**
 * The keys that may have signed what names `id`: that one, those of a pod that the shared ones make, or all that are shared
 * where it names none of them.
 */
export function candidates({ keys }: KeyRing, id: string | undefined): RingKey[] {
  const shared = keys.filter(({ caller }) => caller === undefined)
  const pod = podNamed(id)
  if (pod !== undefined) return shared.map(({ verifies }) => podRingKey(pod, secretOfPod(verifies, pod)))
  const named = keys.filter((key) => key.id === id)
  return named.length > 0 ? named : shared
}

/** The shared keys of a ring, in its order. */
export function sharedKeys(text: string): string[] {
  return entriesOf(text).filter((entry) => !pairForm.test(entry) && !podKeyForm.test(entry))
}

/** The keys that runners hold in place of INTERNAL_KEY, unless RUNNER_KEY sets others: one for each that is shared. */
export function runnerKeyOf(internalKey: string): string {
  return sharedKeys(internalKey)
    .map((key) => createHmac('sha256', key).update('runner').digest('hex'))
    .join(',')
}

/** What the runner of one pod holds in place of RUNNER_KEY: it is made of the first shared key of that ring. */
export function podKeyOf(runnerKey: string, pod: RunnerPodId): string {
  const [first] = sharedKeys(runnerKey)
  if (first === undefined) throw new KeyRingError('must have a key that all runners share')
  return `${podName(pod)}:key:${secretOfPod(createSecretKey(first, 'utf8'), pod)}`
}

/** Whether the key of a token is that of a pod, if it is what it says. */
export function isPodName(id: string | undefined): boolean {
  return podNamed(id) !== undefined
}

/** Tells the key that signs from others, and nothing of it. */
export function signingId(text: string): string {
  return readKeyRing(text).signing?.id ?? ''
}

function podName({ id, pool }: RunnerPodId): string {
  return `pod/${pool}/${id}`
}

function podNamed(name: string | undefined): RunnerPodId | undefined {
  const [, pool, id] = podForm.exec(name ?? '') ?? []
  return pool === undefined || id === undefined ? undefined : { id, pool }
}

function secretOfPod(shared: KeyObject, pod: RunnerPodId): string {
  return createHmac('sha256', shared).update(podName(pod)).digest('hex')
}

function podRingKey(pod: RunnerPodId, secret: string): RingKey {
  const key = createSecretKey(secret, 'utf8')
  return { id: podName(pod), alg: 'HS256', caller: runnerOf(pod), signs: key, verifies: key }
}

/**
 * The pairs that are one caller's own, made of each shared key of a ring, in its order: rings of the private halves, for
 * the caller, and of the public ones, for those that it calls. They are the same at each call.
 */
export function ownPairs(text: string, caller: string): { privateRing: string; publicRing: string } {
  const keys = sharedKeys(text).map((shared) => {
    const seed = createHmac('sha256', shared).update(`pair of ${caller}`).digest('hex')
    return createPrivateKey({ key: Buffer.from(pkcs8Head + seed, 'hex'), format: 'der', type: 'pkcs8' })
  })
  const privates = keys.map((key) => key.export({ format: 'der', type: 'pkcs8' }))
  const publics = keys.map((key) => createPublicKey(key).export({ format: 'der', type: 'spki' }))
  const ring = (kind: string, all: Buffer[]) =>
    all.map((der) => `${caller}:${kind}:${der.toString('base64')}`).join(',')
  return { privateRing: ring('private', privates), publicRing: ring('public', publics) }
}

/** What a PKCS#8 of Ed25519 has before its 32 bytes. */
const pkcs8Head = '302e020100300506032b657004220420'

function entriesOf(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

function readKey(entry: string, number: number, minChars: number): RingKey {
  const [, caller, kind, base64] = pairForm.exec(entry) ?? []
  if (caller !== undefined && base64 !== undefined) return pairKey(caller, kind, base64, number)
  const [, podId, secret] = podKeyForm.exec(entry) ?? []
  const pod = podNamed(podId)
  if (pod !== undefined && secret !== undefined) return podRingKey(pod, secret)
  // One that was meant to be half of a pair may be public, and would speak for everyone; so would that of a pod.
  if (/^(gateway:|operator\/|pod\/)/i.test(entry))
    throw new KeyRingError(
      `has a key that is neither CALLER:private:, CALLER:public:, CALLER:certificate: nor pod/POOL/UUID:key:; key ${number}`,
    )
  if (entry.length < minChars)
    throw new KeyRingError(
      `must be keys of at least ${minChars} characters, separated by commas; key ${number} has fewer`,
    )
  const key = createSecretKey(entry, 'utf8')
  return { id: idOf(Buffer.from(`shared ${entry}`)), alg: 'HS256', caller: undefined, signs: key, verifies: key }
}

function pairKey(name: string, kind: string | undefined, base64: string, number: number): RingKey {
  const caller = callerOf(name)
  if (caller === undefined)
    throw new KeyRingError(
      `may have keys of gateway, operator/NAME and operator/NAME/SCOPES, of ${operatorScopes.join('+')}; key ${number} is of another`,
    )
  const der = Buffer.from(base64, 'base64')
  const signs =
    kind === 'private' ? half(number, () => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })) : undefined
  const verifies = half(number, () => {
    if (signs !== undefined) return createPublicKey(signs)
    if (kind === 'certificate') return new X509Certificate(der).publicKey
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  })
  if (verifies.asymmetricKeyType !== 'ed25519')
    throw new KeyRingError(`must have pairs of Ed25519; key ${number} is of another kind`)
  const id = idOf(verifies.export({ format: 'der', type: 'spki' }))
  return { id, alg: 'EdDSA', caller, signs, verifies }
}

function half(number: number, read: () => KeyObject): KeyObject {
  try {
    return read()
  } catch (error) {
    throw new KeyRingError(`must have the DER of keys in base64; key ${number} can't be read`, { cause: error })
  }
}

function idOf(known: Buffer): string {
  return createHash('sha256').update(known).digest('hex').slice(0, 12)
}
