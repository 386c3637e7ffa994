import { createHmac, timingSafeEqual } from 'node:crypto'
import { Failure } from '@automation/errors'
import { sharedKeys } from './key-ring.ts'

/** What a run may do, for calls to the services that runs may use; it travels with the run and is given to nobody else. */
export interface RunRights {
  team: string
  executionId: string
  /** Whose runner has it. */
  pool: string
  /** 0 for a run that no other run started. */
  depth: number
  createdBy: string
  initiatedBy?: string
  /** The key of the set of packages that this run is the install of: it alone may store that set. */
  installs?: string
  /** Unix time in s after which the token is worth nothing. */
  exp: number
}

const header = Buffer.from('{"alg":"HS256","typ":"run+jwt"}').toString('base64url')

/** Signs and reads run tokens: JWTs with HS256, under a key of their own that no other credential is signed with. */
export class RunTokens {
  /** The first signs; all of them verify. */
  readonly #keys: Buffer[]

  /** Of the shared keys of INTERNAL_KEY. */
  constructor(internalKey: string) {
    this.#keys = sharedKeys(internalKey).map((key) => createHmac('sha256', key).update('run token').digest())
  }

  sign(rights: RunRights): string {
    const signed = `${header}.${Buffer.from(JSON.stringify(rights)).toString('base64url')}`
    return `${signed}.${macOf(signed, this.#keys[0]!).toString('base64url')}`
  }

  /** Failure `unauthenticated` run_token when it is not one of ours or its time is over. */
  read(token: string | undefined, nowMs: number): RunRights {
    const [first, payload = '', mac = '', ...more] = (token ?? '').split('.')
    const given = Buffer.from(mac, 'base64url')
    const isRight = (right: Buffer) => given.length === right.length && timingSafeEqual(given, right)
    if (first !== header || more.length > 0) throw refused()
    if (!this.#keys.some((key) => isRight(macOf(`${first}.${payload}`, key)))) throw refused()
    const rights = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as RunRights
    if (rights.exp * 1000 <= nowMs) throw refused()
    return rights
  }
}

/** What a run's token says that nobody has verified; undefined where it is none. */
export function unreadRights(token: string): Partial<RunRights> | undefined {
  try {
    const rights: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
    return typeof rights === 'object' && rights !== null ? rights : undefined
  } catch {
    // Its service would refuse it, too.
    return undefined
  }
}

function macOf(signed: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(signed).digest()
}

function refused(): Failure {
  return new Failure('unauthenticated', 'run_token', 'The run token is not valid')
}
