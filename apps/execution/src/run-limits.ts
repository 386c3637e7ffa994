import type { TeamLimitRows, TeamSuspension } from '@automation/service'
import type { DatabaseBytesLimit } from './accept/database-bytes-limit.ts'
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
  readonly #databaseBytes: DatabaseBytesLimit

  constructor(
    config: Pick<ExecutionConfig, 'teamMaxRunning' | 'teamMaxQueued'>,
    pools: KnownPools,
    rows: TeamLimitRows,
    databaseBytes: DatabaseBytesLimit,
  ) {
    this.#config = config
    this.#pools = pools
    this.#rows = rows
    this.#databaseBytes = databaseBytes
  }

  /** `ofRuns`: for what its runs start. */
  of(team: string, ofRuns: boolean): TeamLimits {
    const { teamMaxQueued } = this.#config
    const maxQueued = this.#rows.of(team, 'queued', teamMaxQueued)
    return { maxRunning: this.beginning(team, ofRuns), maxQueued, onePool: this.#pools.of(team).length === 1 }
  }

  running(team: string): number {
    return this.#rows.of(team, 'running', this.#config.teamMaxRunning)
  }

  /**
   * Runs of the team beyond which none begins: none begins while it is suspended, nor while nobody knows whether it is.
   * `ofRuns`: of those that its runs have started.
   */
  beginning(team: string, ofRuns: boolean): number {
    const mayBegin = this.#rows.isKnown && this.suspensionOf(team) === undefined
    return mayBegin && (ofRuns || !this.beginsOnlyOfRuns(team)) ? this.running(team) : 0
  }

  /**
   * While a team moves only those begin that its runs have started: what runs may wait for them, and the move waits for
   * what runs.
   */
  beginsOnlyOfRuns(team: string): boolean {
    return this.#rows.isMoving(team)
  }

  suspensionOf(team: string): TeamSuspension | undefined {
    return this.#rows.suspensionOf(team)
  }

  /**
   * Failures: team_suspended, also where it keeps too much; unavailable while nobody knows whether it is, and the catalog does
   * not say so in time.
   */
  async requireActive(team: string): Promise<void> {
    if (!this.#rows.isKnown) await this.#rows.known(patienceMs)
    this.#rows.requireActive(team)
    this.#databaseBytes.requireRoom(team)
  }

  /** What teams run that have no limit of their own, and those that have one. */
  get runningOfAll(): { usual: number; others: { team: string; value: number }[] } {
    const held = new Set(this.#rows.held)
    const own = this.#rows.all('running').filter(({ team }) => !held.has(team))
    return {
      usual: this.#config.teamMaxRunning,
      others: [...own, ...[...held].map((team) => ({ team, value: 0 }))],
    }
  }

  /** Those for which no runner is wanted, whatever waits. */
  get held(): string[] {
    return this.#rows.held
  }

  /** Runs of teams with the same key have the same limits. */
  keyOf(team: string, ofRuns: boolean): string {
    const { maxRunning, maxQueued, onePool } = this.of(team, ofRuns)
    return `${maxRunning} ${maxQueued} ${onePool}`
  }

  /** Of runners that serve one team each; undefined: as their operator has said. */
  runners(team: string): number | undefined {
    return this.#rows.find(team, 'runners')
  }
}
