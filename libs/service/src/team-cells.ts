import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { unavailable } from '@automation/errors'
import { asService, ownContext, type Neighbours } from '@automation/rpc'
import type { TeamCells } from '@automation/rpc/wire'
import type { Logger } from 'pino'
import { TeamLimitRows } from './team-limit-rows.ts'

const timeoutMs = 5000
const patienceMs = 3000

/** In which cells teams are, as the catalog has it. */
export class CatalogCells implements TeamCells {
  readonly #rows: TeamLimitRows
  #looking: Promise<void> | undefined

  /** `name`: of the service that asks. */
  constructor(name: string, logger: Logger, network: () => Pick<Neighbours, 'client'>) {
    this.#rows = new TeamLimitRows(logger, (knownRevision) =>
      network()
        .client(TeamLimitService)
        .listTeamLimits({ knownRevision }, ownContext(asService(name), timeoutMs)),
    )
  }

  async start(): Promise<void> {
    await this.#rows.start()
  }

  of(team: string): string | Promise<string> {
    return this.#rows.isKnown ? this.#rows.cellOf(team) : this.#firstKnown(team)
  }

  /** Many calls may wait for one team. */
  look(): Promise<void> {
    return (this.#looking ??= this.#rows.look().finally(() => (this.#looking = undefined)))
  }

  stop(): Promise<void> {
    return this.#rows.stop()
  }

  async #firstKnown(team: string): Promise<string> {
    await this.#rows.known(patienceMs)
    if (!this.#rows.isKnown) throw unavailable('The service is starting, try again')
    return this.#rows.cellOf(team)
  }
}
