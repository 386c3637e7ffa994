import type { Logger } from '@automation/service'
import type pg from 'pg'
import type { ForcedEnds } from './forced-ends.ts'
import { endExpiredSessions, readOrphans, readOverdue, readRunning } from './store/sessions.ts'

/**
 * Whether leases may be called over: only when the database was reached again and again through a whole lease, for
 * while it is away no runner can renew either. Pure; times are monotonic.
 */
export class Reach {
  readonly #leaseMs: number
  #sinceMs: number | undefined
  #lastMs = 0

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  /** The database answered, having been asked at `askedMs`. */
  reached(askedMs: number, nowMs: number): void {
    const gap = this.#sinceMs === undefined || nowMs - this.#lastMs > (this.#leaseMs * 2) / 3
    if (gap || nowMs - askedMs > this.#leaseMs / 3) this.#sinceMs = nowMs
    this.#lastMs = nowMs
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
  readonly #pool: pg.Pool
  readonly #forced: ForcedEnds
  readonly #leaseMs: number
  readonly #reach: Reach
  readonly #logger: Logger
  constructor(pool: pg.Pool, forced: ForcedEnds, leaseMs: number, logger: Logger) {
    this.#pool = pool
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
      const orphans = await readOrphans(this.#pool)
      this.#reach.reached(asked, performance.now())
      if (orphans.length > 0) await this.#forced.fail(orphans, 'runner lost')
      if (!this.#reach.throughLease(performance.now())) return
      const lost = await endExpiredSessions(this.#pool)
      if (lost.length === 0) return await this.#endOverdue()
      this.#logger.warn({ sessions: lost }, 'runners were lost')
      await this.#forced.fail(await readOrphans(this.#pool), 'runner lost')
    } catch (error) {
      this.#reach.missed()
      throw error
    }
  }

  async #endOverdue(): Promise<void> {
    const overdue = await readOverdue(this.#pool, this.#leaseMs)
    for (const [timeoutMs, runs] of Map.groupBy(overdue, ({ timeoutMs: ms }) => ms))
      await this.#forced.fail(
        runs.map(({ id }) => id),
        `TimeoutError: the run took longer than ${timeoutMs} ms`,
      )
  }
}
