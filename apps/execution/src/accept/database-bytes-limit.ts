import { Failure } from '@automation/errors'
import type { TeamLimitRows } from '@automation/service'
import type { Queries } from '../store/connections.ts'
import { readDatabaseBytes, readLargest } from '../store/database-bytes.ts'

/** How many bytes of the database a team's executions may take, behind which nothing new runs. Known within seconds. */
export class DatabaseBytesLimit {
  readonly #pool: Queries
  readonly #rows: TeamLimitRows
  /** Of teams that have none of their own; 0 is no limit. */
  readonly #usual: number
  #over = new Set<string>()

  constructor(pool: Queries, rows: TeamLimitRows, usual: number) {
    this.#pool = pool
    this.#rows = rows
    this.#usual = usual
  }

  /** Looks which teams take too many; asks nothing where there is no limit. */
  async look(): Promise<void> {
    const all = [this.#usual, ...this.#rows.all('databaseBytes').map(({ value }) => value)].filter((most) => most > 0)
    const large = all.length === 0 ? [] : await readLargest(this.#pool, Math.min(...all))
    this.#over = new Set(
      large.filter(({ team, bytes }) => bytes >= (this.#of(team) ?? Infinity)).map(({ team }) => team),
    )
  }

  /** Failure team_suspended where the team takes too many. */
  requireRoom(team: string): void {
    if (!this.#over.has(team)) return
    const text = `The executions of the team take ${this.#of(team)} bytes or more, as many as they may (databaseBytes). Nothing new runs until some are past retention, a process is deleted, or the operator raises the limit; reading goes on.`
    throw new Failure('permission_denied', 'team_suspended', text)
  }

  /** What a team may take and takes; undefined where it has no limit. */
  async shown(pool: Queries, team: string): Promise<{ name: string; allowed: bigint; inUse: bigint } | undefined> {
    const allowed = this.#of(team)
    if (allowed === undefined) return undefined
    return { name: 'databaseBytes', allowed: BigInt(allowed), inUse: await readDatabaseBytes(pool, team) }
  }

  #of(team: string): number | undefined {
    return this.#rows.of(team, 'databaseBytes', this.#usual) || undefined
  }
}
