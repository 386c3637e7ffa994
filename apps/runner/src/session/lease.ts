import type { RunnerService } from '@automation/contract/runner/v1/runner'
import { asFailure, type Failure } from '@automation/errors'
import { isUnreachable, ownContext, type Client, type Principal } from '@automation/rpc'
import type { Logger } from '@automation/service'

export interface LeaseOptions {
  client: Client<typeof RunnerService>
  principal: Principal
  /** The session, and the executions that the runner has. */
  session(): { id: string; executionIds: string[] }
  /** For how long the runner had no run, whose it is, and the replicas that it has a stream to. */
  state(): { idleMs: number; team: string; replicas: string[] }
  /** These are terminal. */
  ended(executionIds: string[]): void
  /** The operator wants it to end once its runs have; said again at each renewal. */
  drain(): void
  /** Execution knows the session no more. */
  lost(sessionId: string): void
  /** No replica was reached for so long that the lease is about to end. */
  cutOff(): void
  logger: Logger
}

// Children end before the lease does, with time for them to go.
const partOfLease = 0.8
// Longer than a replica takes to say that the database is away.
const answerWithinMs = 6000
const looksPerLease = 30

/**
 * Renews the lease at a third of it. A replica that answers that the database is away has been reached: while it cannot
 * renew, it ends no session either. All durations are monotonic.
 */
export class Lease {
  readonly #options: LeaseOptions
  #leaseMs = 0
  #reachedAt = 0
  #isCutOff = false
  #renewals: NodeJS.Timeout | undefined
  #looks: NodeJS.Timeout | undefined

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** A replica has just registered the session. */
  begin(leaseMs: number): void {
    this.#reached(performance.now())
    if (this.#leaseMs === leaseMs) return
    this.stop()
    this.#leaseMs = leaseMs
    this.#renewals = setInterval(() => void this.#renew(), leaseMs / 3)
    this.#looks = setInterval(() => this.#look(), leaseMs / looksPerLease)
  }

  stop(): void {
    clearInterval(this.#renewals)
    clearInterval(this.#looks)
    this.#leaseMs = 0
  }

  async #renew(): Promise<void> {
    const { client, principal, session, state, ended, drain: drains, lost } = this.#options
    const { id, executionIds } = session()
    const { idleMs, team, replicas } = state()
    const sentAt = performance.now()
    try {
      const context = ownContext(principal, Math.max(answerWithinMs, this.#leaseMs / 3))
      const renewal = { sessionId: id, executionIds, idleMs: BigInt(Math.round(idleMs)), team, replicas }
      const { endedExecutionIds, drain } = await client.renewSession(renewal, context)
      this.#reached(sentAt)
      if (endedExecutionIds.length > 0) ended(endedExecutionIds)
      if (drain) drains()
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (wasAnswered(failure)) this.#reached(sentAt)
      if (failure.code === 'session_lost') return lost(id)
      this.#options.logger.warn({ err: failure }, 'the lease was not renewed')
    }
  }

  #reached(at: number): void {
    this.#reachedAt = Math.max(this.#reachedAt, at)
    this.#isCutOff = false
  }

  #look(): void {
    if (this.#isCutOff || performance.now() - this.#reachedAt < this.#leaseMs * partOfLease) return
    this.#isCutOff = true
    this.#options.cutOff()
  }
}

function wasAnswered(failure: Failure): boolean {
  return !isUnreachable(failure) && failure.kind !== 'deadline_exceeded' && failure.code !== 'call_cancelled'
}
