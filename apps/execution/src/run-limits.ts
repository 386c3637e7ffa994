import type { TeamLimitRows, TeamSuspension } from '@automation/service'
import type { KnownPools } from './dispatch/known-pools.ts'
import type { ExecutionConfig } from './config.ts'
import type { TeamLimits } from './store/start-rows.ts'

/** How long a run waits that comes before the catalog was asked for the first time. */
const patienceMs = 2000

/** How many runs a team may have: what the settings say, or what the operator has given the team. */
export class RunLimits {
  readonly #config: Pick<ExecutionConfig, 'teamMaxRunning' | 'teamMaxQueued'>
  readonly #pools: KnownPools
  readonly #rows: TeamLimitRows

  constructor(
    config: Pick<ExecutionConfig, 'teamMaxRunning' | 'teamMaxQueued'>,
    pools: KnownPools,
    rows: TeamLimitRows,
  ) {
    this.#config = config
    this.#pools = pools
    this.#rows = rows
  }

  of(team: string): TeamLimits {
    const { teamMaxQueued } = this.#config
    const maxQueued = this.#rows.of(team, 'queued', teamMaxQueued)
    return { maxRunning: this.beginning(team), maxQueued, onePool: this.#pools.of(team).length === 1 }
  }

  running(team: string): number {
    return this.#rows.of(team, 'running', this.#config.teamMaxRunning)
  }

  /** Runs of the team beyond which none begins: none begins while it is suspended, nor while nobody knows whether it is. */
  beginning(team: string): number {
    return this.#rows.isKnown && this.suspensionOf(team) === undefined ? this.running(team) : 0
  }

  suspensionOf(team: string): TeamSuspension | undefined {
    return this.#rows.suspensionOf(team)
  }

  /** Failures: team_suspended; unavailable while nobody knows whether it is, and the catalog does not say so in time. */
  async requireActive(team: string): Promise<void> {
    if (!this.#rows.isKnown) await this.#rows.known(patienceMs)
    this.#rows.requireActive(team)
  }

  /** What teams run that have no limit of their own, and those that have one. */
  get runningOfAll(): { usual: number; others: { team: string; value: number }[] } {
    const suspended = new Set(this.#rows.suspended)
    const own = this.#rows.all('running').filter(({ team }) => !suspended.has(team))
    return {
      usual: this.#config.teamMaxRunning,
      others: [...own, ...[...suspended].map((team) => ({ team, value: 0 }))],
    }
  }

  /** Those for which no runner is wanted, whatever waits. */
  get suspended(): string[] {
    return this.#rows.suspended
  }

  /** Runs of teams with the same key have the same limits. */
  keyOf(team: string): string {
    const { maxRunning, maxQueued, onePool } = this.of(team)
    return `${maxRunning} ${maxQueued} ${onePool}`
  }

  /** Of runners that serve one team each; undefined: as their operator has said. */
  runners(team: string): number | undefined {
    return this.#rows.find(team, 'runners')
  }
}
