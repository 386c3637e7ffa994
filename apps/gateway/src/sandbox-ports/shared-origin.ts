import { TeamService } from '@automation/contract/catalog/v1/team'
import { asFailure } from '@automation/errors'
import { asService, ownContext, type Client, type Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'

const self = asService('gateway')
const againMs = 1000

/** Says at the start where teams that are strangers to each other get pages of one origin for their sandboxes. */
export class SharedOriginWarning {
  readonly #teams: Client<typeof TeamService>
  readonly #logger: Logger
  readonly #callTimeoutMs: number
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor({ neighbours, logger }: { neighbours: Neighbours; logger: Logger }, callTimeoutMs: number) {
    this.#teams = neighbours.client(TeamService)
    this.#logger = logger
    this.#callTimeoutMs = callTimeoutMs
  }

  /** Asks until the catalog answers: it may start later than the gateway. */
  async start(): Promise<void> {
    try {
      const { count } = await this.#teams.countTeams({}, ownContext(self, this.#callTimeoutMs))
      if (count > 1) this.#warn(count)
    } catch (error) {
      const { kind } = asFailure(error)
      if (kind !== 'unavailable' && kind !== 'deadline_exceeded')
        this.#logger.warn({ err: error }, 'it is not known whether several teams share the origin of sandboxes')
      else if (!this.#stopped) this.#timer = setTimeout(() => void this.start(), againMs).unref()
    }
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #warn(teams: number): void {
    this.#logger.warn(
      { teams },
      'several teams share one origin for the public ports of their sandboxes: pages of one can read those of another; set SANDBOX_PUBLIC_DOMAIN, so that each has a host of its own',
    )
  }
}
