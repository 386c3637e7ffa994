import { PoolTokenService } from '@automation/contract/execution/v1/team_pool'
import { RunnerService } from '@automation/contract/runner/v1/runner'
import { asFailure, Failure, unavailable } from '@automation/errors'
import {
  asRunnerWith,
  asRunWith,
  asService,
  notPassedOn,
  ownContext,
  type Client,
  type Neighbours,
  type Principal,
} from '@automation/rpc'
import { isPoolToken } from '@automation/rpc/pool-token'
import { unreadRights } from '@automation/rpc/run-token'
import type { DescMethod } from '@bufbuild/protobuf'
import { LRUCache } from 'lru-cache'

const self = asService('gateway')

/** For so long a token is believed that execution has called good. */
const believedMs = 3000
const mostAsked = 32

interface Grant {
  pool: string
  team: string
  /** Monotonic. */
  believedUntilMs: number
}

/** Lets runners of other networks in by the token of their pool, and calls of runs beside it that are of that pool. */
export class PoolGate {
  readonly #tokens: Client<typeof PoolTokenService>
  readonly #callTimeoutMs: number
  readonly #asking = new Map<string, Promise<Grant>>()
  /** Of tokens that were good when they were last asked about. */
  readonly #good = new LRUCache<string, Grant>({ max: 10_000 })
  #strangersAsked = 0

  constructor(neighbours: Neighbours, callTimeoutMs: number) {
    this.#tokens = neighbours.client(PoolTokenService)
    this.#callTimeoutMs = callTimeoutMs
  }

  /** Failure pool_token where it is not good. */
  async admit(poolToken: string): Promise<void> {
    await this.#grantOf(poolToken)
  }

  /** As whom a call is passed on. Failures: pool_token; run_of_another_pool. */
  async principalOf(poolToken: string, { parent }: DescMethod, authorization: string): Promise<Principal> {
    const { pool, team } = await this.#grantOf(poolToken)
    if (parent.typeName === RunnerService.typeName) return asRunnerWith(poolToken)
    const [, token = ''] = /^Bearer (\S+)$/.exec(authorization) ?? []
    // Whether the token is one of ours is for the service to say.
    const rights = unreadRights(token)
    if (rights?.team === team && rights.pool === pool) return asRunWith(token)
    throw new Failure('permission_denied', 'run_of_another_pool', 'The call is not that of a run of this pool')
  }

  async #grantOf(text: string): Promise<Grant> {
    if (!isPoolToken(text)) throw new Failure('unauthenticated', 'pool_token', 'The call needs the token of a pool')
    const known = this.#good.get(text)
    if (known !== undefined && performance.now() < known.believedUntilMs) return known
    const asked = this.#asking.get(text)
    if (asked !== undefined) return await asked
    const asking = known === undefined ? this.#askOfStranger(text) : this.#ask(text)
    this.#asking.set(text, asking)
    return await asking.finally(() => this.#asking.delete(text))
  }

  /** Strangers may come with any token, so only some are asked about at a time. */
  async #askOfStranger(text: string): Promise<Grant> {
    if (this.#strangersAsked >= mostAsked) throw unavailable('Too many tokens of pools are being looked at, try again')
    this.#strangersAsked += 1
    return this.#ask(text).finally(() => (this.#strangersAsked -= 1))
  }

  async #ask(text: string): Promise<Grant> {
    try {
      const { pool, team } = await this.#tokens.checkPoolToken({ text }, ownContext(self, this.#callTimeoutMs))
      const grant = { pool, team, believedUntilMs: performance.now() + believedMs }
      this.#good.set(text, grant)
      return grant
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (failure.code === 'pool_token') this.#good.delete(text)
      throw notPassedOn(failure)
    }
  }
}
