import type { Logger } from 'pino'
import { Periodic } from './periodic.ts'

/** What the catalog answers: all limits of single teams, or none where the known revision is that of now. */
export interface TeamLimitAnswer {
  revision: bigint
  limits: readonly { team: string; name: string; value: bigint }[]
}

const everyMs = 2000

/** What the operator lets single teams have, in place of what the settings say. Read again and again; in force within seconds. */
export class TeamLimitRows {
  readonly #reading: Periodic
  #revision = 0n
  #values = new Map<string, number>()

  /** `read` asks the catalog. While that is away, what is known stays. */
  constructor(logger: Logger, read: (knownRevision: bigint) => Promise<TeamLimitAnswer>) {
    this.#reading = new Periodic('reading limits of teams', everyMs, logger, async () => {
      const { revision, limits } = await read(this.#revision)
      if (revision === this.#revision) return
      this.#values = new Map(limits.map(({ team, name, value }) => [`${name} ${team}`, Number(value)]))
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
