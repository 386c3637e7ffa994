import type { TeamService } from '@automation/contract/catalog/v1/team'
import { teamMoved } from '@automation/errors'
import { asService, ownContext, type Client } from '@automation/rpc'
import type { Queries } from '../store/connections.ts'
import { readLeftTeams } from '../store/team-moves.ts'

interface TeamMovesContext {
  pool: Queries
  /** What the catalog calls this cell; '' is the first. */
  cell: string
  teams: Pick<Client<typeof TeamService>, 'getTeam'>
}

const cellTimeoutMs = 5000

/**
 * Which teams are of this cell. A team's row in `team_slots` is the word: with its first run there it has one, and when it
 * leaves that says where to. All replicas read it again and again, and tell each other how far they have read.
 */
export class TeamMoves {
  readonly #context: TeamMovesContext
  #left = new Set<string>()
  #knownUntil: Date | undefined
  /** Those who read of a team that is here. */
  readonly #readers = new Map<string, Set<AbortController>>()

  constructor(context: TeamMovesContext) {
    this.#context = context
  }

  /** Learns which teams have left. Who reads of them is told. */
  async look(): Promise<void> {
    const teams = await readLeftTeams(this.#context.pool)
    const before = this.#left
    this.#left = new Set(teams.map(({ team }) => team))
    // Rows have microseconds.
    this.#knownUntil = new Date(Math.max(0, ...teams.map(({ movedAt }) => movedAt.getTime() + 1)))
    for (const team of this.#left)
      if (!before.has(team)) for (const reader of this.#readers.get(team) ?? []) reader.abort()
  }

  /** Those that have left. */
  get left(): string[] {
    return [...this.#left]
  }

  /** Of all that had left by then this replica knows; undefined before the first look. */
  get knownUntil(): Date | undefined {
    return this.#knownUntil
  }

  /** Failure team_moved where this replica knows that the team has left. */
  requireHere(team: string): void {
    if (this.#left.has(team)) throw teamMoved()
  }

  /** Failures: team_moved where the catalog has the team in another cell; those of the catalog. */
  async requireOwn(team: string): Promise<void> {
    const { cell, teams } = this.#context
    const found = await teams.getTeam({}, ownContext(asService('execution', team), cellTimeoutMs))
    if (found.cell !== cell) throw teamMoved()
  }

  /** What a stream of a team tells, until the team leaves: then it fails with team_moved. `open` gets what ends it. */
  async *whileHere<T>(team: string, caller: AbortSignal, open: (signal: AbortSignal) => AsyncIterable<T>) {
    this.requireHere(team)
    const leaving = new AbortController()
    const readers = this.#readers.get(team) ?? new Set()
    this.#readers.set(team, readers.add(leaving))
    try {
      yield* open(AbortSignal.any([caller, leaving.signal]))
    } catch (error) {
      throw leaving.signal.aborted ? teamMoved() : error
    } finally {
      readers.delete(leaving)
      if (readers.size === 0 && this.#readers.get(team) === readers) this.#readers.delete(team)
    }
    if (leaving.signal.aborted) throw teamMoved()
  }
}
