import { createHash, randomBytes } from 'node:crypto'
import { TeamShare } from '@automation/database'
import { Failure } from '@automation/errors'
import type { CallContext } from '@automation/rpc'
import { isPoolToken, poolTokenHead } from '@automation/rpc/pool-token'
import { useToken, type PoolGrant } from '../store/team-pools.ts'
import type { Queries } from '../store/connections.ts'

const secretBytes = 32

/** The tokens by which runners of other networks join a pool. */
export class PoolTokens {
  readonly #pool: Queries
  /** One place for each token. */
  readonly #turns = new TeamShare(1)
  readonly #turnsOut = new TeamShare(1)

  constructor(pool: Queries) {
    this.#pool = pool
  }

  /** What the token of a call lets in; undefined for a runner that came with the key of this network. Failure: pool_token. */
  async grantOf({ principal }: CallContext): Promise<PoolGrant | undefined> {
    return principal.token === undefined ? undefined : this.check(principal.token)
  }

  /** What callers with the same token ask of the database is done one by one, so that they leave connections to others. */
  inTurn<T>({ principal }: CallContext, work: () => Promise<T>): Promise<T> {
    return principal.token === undefined ? work() : this.#turns.use(principal.token, work)
  }

  /** The same for ends of sessions, which may have to wait longer: behind them nobody loses another one. */
  outInTurn<T>({ principal }: CallContext, work: () => Promise<T>): Promise<T> {
    return principal.token === undefined ? work() : this.#turnsOut.use(principal.token, work)
  }

  /** Failure `unauthenticated` pool_token where it is none, was revoked or has expired. */
  async check(text: string): Promise<PoolGrant> {
    const grant = isPoolToken(text) ? await useToken(this.#pool, hashOf(text)) : undefined
    if (grant === undefined)
      throw new Failure(
        'unauthenticated',
        'pool_token',
        'The pool token is not valid: it was revoked, has expired, or never was one',
      )
    return grant
  }
}

/** A new token and what is kept of it. */
export function newPoolToken(): { text: string; hash: Uint8Array } {
  const text = `${poolTokenHead}${randomBytes(secretBytes).toString('base64url')}`
  return { text, hash: hashOf(text) }
}

function hashOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}
