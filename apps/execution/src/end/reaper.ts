import { runnerLost } from '@automation/contract/installs'
import type { Logger } from '@automation/service'
import type { ForcedEnds } from './forced-ends.ts'
import {
  endExpiredSessions,
  readClock,
  readOrphans,
  readOverdue,
  readRunning,
  writeAmongSessions,
  type Leaps,
} from '../store/sessions.ts'
import type { Queries } from '../store/connections.ts'

/**
 * Whether leases may be called over: only when the database took a write again and again through a whole lease, for
 * while it takes none no runner can renew either. Where its clock leaps ahead of ours, as after a machine was suspended,
 * leases seem over that nobody had the time to renew: a whole lease must go by from there. Pure; times are monotonic.
 */
export class Reach {
  readonly #leaseMs: number
  #sinceMs: number | undefined
  #lastMs = 0
  #lastDatabaseMs: number | undefined
  readonly #leaps: Leaps = { ms: 0, untilMs: 0 }

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  get leaps(): Leaps {
    return { ...this.#leaps }
  }

  /** The database took a write and answered with its clock, having been asked at `askedMs`. */
  reached(askedMs: number, nowMs: number, databaseMs: number): void {
    const gap = this.#sinceMs === undefined || nowMs - this.#lastMs > (this.#leaseMs * 2) / 3
    if (this.#hasLeapt(nowMs, databaseMs) || gap || nowMs - askedMs > this.#leaseMs / 3) this.#sinceMs = nowMs
    this.#lastMs = nowMs
    this.#lastDatabaseMs = databaseMs
  }

  #hasLeapt(nowMs: number, databaseMs: number): boolean {
    const ahead = this.#lastDatabaseMs === undefined ? 0 : databaseMs - this.#lastDatabaseMs - (nowMs - this.#lastMs)
    if (ahead <= this.#leaseMs / 3) return false
    this.#leaps.ms += Math.ceil(ahead)
    this.#leaps.untilMs = databaseMs
    return true
  }

  missed(): void {
    this.#sinceMs = undefined
  }

  throughLease(nowMs: number): boolean {
    return this.#sinceMs !== undefined && nowMs - this.#sinceMs >= this.#leaseMs
  }
}

/** Ends what no runner answers for any more. Any number of replicas may do so at the same time. */
export class Reaper {
  readonly #pool: Queries
  readonly #replicaId: string
  readonly #forced: ForcedEnds
  readonly #leaseMs: number
  readonly #reach: Reach
  readonly #logger: Logger

  constructor(pool: Queries, replicaId: string, forced: ForcedEnds, leaseMs: number, logger: Logger) {
    this.#pool = pool
    this.#replicaId = replicaId
    this.#forced = forced
    this.#leaseMs = leaseMs
    this.#reach = new Reach(leaseMs)
    this.#logger = logger
  }

  /** For a start with the database to ourselves: whatever RUNNING is found was cut off. */
  async endAll(explanation: string): Promise<void> {
    await this.#forced.fail(await readRunning(this.#pool), explanation)
    await endExpiredSessions(this.#pool, true)
  }

  /** One look; to be repeated at a third of the lease. */
  async reap(): Promise<void> {
    const asked = performance.now()
    try {
      await writeAmongSessions(this.#pool, this.#replicaId)
      const databaseMs = await readClock(this.#pool)
      const orphans = await readOrphans(this.#pool)
      this.#reach.reached(asked, performance.now(), databaseMs)
      if (orphans.length > 0) await this.#forced.fail(orphans, runnerLost)
      if (!this.#reach.throughLease(performance.now())) return
      const lost = await endExpiredSessions(this.#pool)
      if (lost.length === 0) return await this.#endOverdue()
      this.#logger.warn({ sessions: lost }, 'runners were lost')
      await this.#forced.fail(await readOrphans(this.#pool), runnerLost)
    } catch (error) {
      this.#reach.missed()
      throw error
    }
  }

  async #endOverdue(): Promise<void> {
    // Time that nobody had is not counted: the runner, which ends runs by its own clock, does not count it either.
    const overdue = await readOverdue(this.#pool, this.#leaseMs, this.#reach.leaps)
    for (const [timeoutMs, runs] of Map.groupBy(overdue, ({ timeoutMs: ms }) => ms))
      await this.#forced.fail(
        runs.map(({ id }) => id),
        `TimeoutError: the run took longer than ${timeoutMs} ms`,
      )
  }
}
