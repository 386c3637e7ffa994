import type { Logger } from 'pino'
import { AddressList } from './address-list.ts'
import { Periodic } from './periodic.ts'

/** What the catalog answers: all limits of single teams, or none where the known revision is that of now. */
export interface TeamLimitAnswer {
  revision: bigint
  limits: readonly { team: string; name: string; value: bigint }[]
  addresses?: readonly { team: string; ranges: readonly string[] }[]
}

const everyMs = 2000

/** What the operator lets single teams have, in place of what the settings say. Read again and again; in force within seconds. */
export class TeamLimitRows {
  readonly #reading: Periodic
  #revision = 0n
  #values = new Map<string, number>()
  #addresses = new Map<string, AddressList>()
  #known = false

  /** `read` asks the catalog. While that is away, what is known stays. */
  constructor(logger: Logger, read: (knownRevision: bigint) => Promise<TeamLimitAnswer>) {
    this.#reading = new Periodic('reading limits of teams', everyMs, logger, async () => {
      const { revision, limits, addresses = [] } = await read(this.#revision)
      this.#known = true
      if (revision === this.#revision) return
      this.#values = new Map(limits.map(({ team, name, value }) => [`${name} ${team}`, Number(value)]))
      this.#addresses = new Map(addresses.map(({ team, ranges }) => [team, new AddressList(ranges)]))
      this.#revision = revision
    })
  }

  start(): void {
    this.#reading.start()
    this.#reading.soon()
  }

  stop(): Promise<void> {
    return this.#reading.stop()
  }

  /** Whether they were read at all. */
  get isKnown(): boolean {
    return this.#known
  }

  /** Where the tokens of this team may be used from; undefined: from anywhere. */
  addressesOf(team: string): AddressList | undefined {
    return this.#addresses.get(team)
  }

  /** That of this team; undefined where it has what all have. */
  find(team: string, name: string): number | undefined {
    return this.#values.get(`${name} ${team}`)
  }

  /** That of this team, else `usual`. */
  of(team: string, name: string, usual: number): number {
    return this.find(team, name) ?? usual
  }

  /** Teams that have a limit of their own of this name. */
  all(name: string): { team: string; value: number }[] {
    const prefix = `${name} `
    return [...this.#values].flatMap(([key, value]) =>
      key.startsWith(prefix) ? [{ team: key.slice(prefix.length), value }] : [],
    )
  }
}
