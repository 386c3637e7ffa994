import { hash } from 'node:crypto'
import { Failure, unavailable } from '@automation/errors'
import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt'
import type { Logger } from 'pino'
import { atMost } from './waits.ts'
import { AddressList } from './address-list.ts'
import { Periodic } from './periodic.ts'

/** What the catalog answers: all limits of single teams, or none where the known revision is that of now. */
export interface TeamLimitAnswer {
  revision: bigint
  limits: readonly { team: string; name: string; value: bigint }[]
  addresses?: readonly { team: string; ranges: readonly string[] }[]
  suspensions?: readonly TeamSuspension[]
  /** SHA-256 of the slugs of removed teams whose access tokens have not ended. */
  removed?: readonly Uint8Array[]
  /** False from a catalog of the release before, which knows of neither. */
  tellsSuspensions?: boolean
  /** Teams whose executions are not in the first cell, or do not stay there. */
  cells?: readonly TeamCell[]
  /** Client ids whose access tokens were revoked and have not ended. */
  revokedClients?: readonly string[]
  /** Teams whose access tokens count only where they were issued later. */
  access?: readonly { team: string; from?: Timestamp }[]
}

interface TeamCell {
  team: string
  /** Empty: the first one. */
  cell: string
  moving: boolean
}

/** A team for which nothing new may run. */
export interface TeamSuspension {
  team: string
  /** The operator's words for the team's members; may be empty. */
  reason: string
  /** All of the team is being removed. */
  purging: boolean
}

const everyMs = 2000

/** What the operator lets single teams have, in place of what the settings say. Read again and again; in force within seconds. */
export class TeamLimitRows {
  readonly #reading: Periodic
  #revision = 0n
  #values = new Map<string, number>()
  #addresses = new Map<string, AddressList>()
  #suspensions = new Map<string, TeamSuspension>()
  #removed = new Set<string>()
  #cells = new Map<string, TeamCell>()
  #revokedClients = new Set<string>()
  #accessFromMs = new Map<string, number>()
  readonly #first = Promise.withResolvers<void>()
  #known = false

  readonly #read: (knownRevision: bigint) => Promise<TeamLimitAnswer>

  /** `read` asks the catalog. While that is away, what is known stays. */
  constructor(logger: Logger, read: (knownRevision: bigint) => Promise<TeamLimitAnswer>) {
    this.#read = read
    this.#reading = new Periodic('reading limits of teams', everyMs, logger, () => this.look())
  }

  /** Asks now. Failures: those of `read`. */
  async look(): Promise<void> {
    const answer = await this.#read(this.#revision)
    const {
      revision,
      limits,
      addresses = [],
      suspensions = [],
      removed = [],
      tellsSuspensions,
      cells = [],
      access = [],
    } = answer
    this.#known = true
    this.#first.resolve()
    if (revision === this.#revision) return
    this.#values = new Map(limits.map(({ team, name, value }) => [`${name} ${team}`, Number(value)]))
    this.#addresses = new Map(addresses.map(({ team, ranges }) => [team, new AddressList(ranges)]))
    // What is known of suspensions stays then, and all is asked for again.
    if (tellsSuspensions !== true) return
    this.#suspensions = new Map(suspensions.map((suspension) => [suspension.team, suspension]))
    this.#cells = new Map(cells.map((each) => [each.team, each]))
    this.#revokedClients = new Set(answer.revokedClients)
    this.#accessFromMs = new Map(access.map(({ team, from }) => [team, from === undefined ? 0 : timestampMs(from)]))
    this.#removed = new Set(removed.map((digest) => Buffer.from(digest).toString('hex')))
    this.#revision = revision
  }

  /** Waits for the first answer at most `patienceMs`. */
  async start(patienceMs = 0): Promise<void> {
    this.#reading.start()
    this.#reading.soon()
    if (patienceMs > 0) await atMost(patienceMs, this.#first.promise)
  }

  /** Where they were never read: asks for them now, and waits at most `patienceMs`. */
  async known(patienceMs: number): Promise<void> {
    if (this.#known) return
    this.#reading.soon()
    await atMost(patienceMs, this.#first.promise)
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

  /** Why nothing new may run for this team; undefined where it may. */
  suspensionOf(team: string): TeamSuspension | undefined {
    return this.#suspensions.get(team)
  }

  /** Whether this team is being removed, or was while access tokens of it are out. */
  isGone(team: string): boolean {
    if (this.#suspensions.get(team)?.purging === true) return true
    return this.#removed.size > 0 && this.#removed.has(hash('sha256', team))
  }

  /** Whether the access tokens that were had for this client id are worth nothing any more. */
  isRevoked(clientId: string): boolean {
    return this.#revokedClients.has(clientId)
  }

  /** From when on, in Unix time in ms, the access tokens of this team must have been issued to be worth something; 0 mostly. */
  accessFromMs(team: string): number {
    return this.#accessFromMs.get(team) ?? 0
  }

  /** In which cell the executions of this team are; '' is the first. */
  cellOf(team: string): string {
    return this.#cells.get(team)?.cell ?? ''
  }

  /** Whether they are moving to another one. */
  isMoving(team: string): boolean {
    return this.#cells.get(team)?.moving === true
  }

  /** The teams of which nothing begins now: those that are suspended, and those that move. */
  get held(): string[] {
    const moving = [...this.#cells.values()].filter((each) => each.moving).map(({ team }) => team)
    return [...new Set([...this.#suspensions.keys(), ...moving])]
  }

  /** Failures: team_suspended where nothing new may run for this team; unavailable while nobody knows whether it may. */
  requireActive(team: string): void {
    if (!this.#known) throw unavailable('The service is starting, try again')
    const suspension = this.#suspensions.get(team)
    if (suspension === undefined) return
    const why = suspension.reason === '' ? '' : `: ${suspension.reason}`
    const text = `The operator has suspended the team${why}. Nothing new runs until the operator resumes it; reading goes on.`
    throw new Failure('permission_denied', 'team_suspended', text)
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
