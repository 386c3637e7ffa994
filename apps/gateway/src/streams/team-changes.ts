import { TeamChangeService as CatalogChanges } from '@automation/contract/catalog/v1/team_change'
import type { TeamChange, TeamChanges as ChangesOfTeam } from '@automation/contract/common/v1/change'
import { TeamChangeService as SandboxChanges } from '@automation/contract/sandbox/v1/team_change'
import { TeamChangeService as ScheduleChanges } from '@automation/contract/schedule/v1/team_change'
import { asService, ownContext, type CallContext, type Neighbours } from '@automation/rpc'
import { Periodic, type Logger } from '@automation/service'

/** The services that tell of changes. */
export const sources = ['catalog', 'schedule', 'sandbox'] as const
export type Source = (typeof sources)[number]

/** The number of the last change that is known, of each service. */
export type Positions = Readonly<Partial<Record<Source, bigint>>>

/**
 * A change, or that some are missing: at least so many, 0 where it is not known, and none from before `sinceMs`. Times here
 * are Unix times in ms.
 */
export type Delivered = { source: Source; number: bigint } & (
  | { change: TeamChange }
  | { missed: number; sinceMs: number }
)

const readEveryMs = 250
/** For each reader and service; what has no room becomes a gap. */
const mostKept = 1000
// What somebody commits now may have happened a moment ago, by another clock.
const latenessMs = 1000

/** What readers of a service are told of a team: read once for all. */
interface Followed {
  /** Undefined until its first reader knows where it begins. */
  after: bigint | undefined
  readers: Set<SourceReader>
  /** The first reader knows, or has failed: others begin behind it. */
  begun: Promise<unknown>
}

/** Changes of teams at one service, for who follows them here; they are asked for while there is anybody. */
class SourceFeed {
  readonly #source: Source
  readonly #list: (
    teams: { team: string; after: bigint | undefined }[],
    context: CallContext,
  ) => Promise<ChangesOfTeam[]>
  readonly #timeoutMs: number
  readonly #followed = new Map<string, Followed>()
  readonly #reading: Periodic

  constructor(source: Source, neighbours: Neighbours, timeoutMs: number, logger: Logger) {
    const services = { catalog: CatalogChanges, schedule: ScheduleChanges, sandbox: SandboxChanges } as const
    const client = neighbours.client<(typeof services)[Source]>(services[source])
    this.#source = source
    this.#timeoutMs = timeoutMs
    this.#list = async (teams, context) => (await client.listTeamChanges({ teams }, context)).teams
    this.#reading = new Periodic(`reading changes at ${source}`, readEveryMs, logger, () => this.#read())
  }

  start(): void {
    this.#reading.start()
  }

  stop(): Promise<void> {
    return this.#reading.stop()
  }

  async follow(team: string, { after: known, sinceMs, wake, context }: FollowOptions): Promise<SourceReader> {
    const after = known[this.#source]
    await this.#followed.get(team)?.begun
    const followed = this.#followed.get(team) ?? { after: undefined, readers: new Set(), begun: Promise.resolve() }
    const leave = () => {
      followed.readers.delete(reader)
      if (followed.readers.size === 0 && this.#followed.get(team) === followed) this.#followed.delete(team)
    }
    const reader: SourceReader = new SourceReader({ source: this.#source, sinceMs, wake, leave })
    this.#followed.set(team, followed)
    followed.readers.add(reader)
    try {
      const own = { ...context, principal: asService('gateway') }
      const answer = this.#list([{ team, after }], own)
      if (followed.after === undefined) followed.begun = answer.catch(() => undefined)
      const [found] = await answer
      if (found === undefined) throw new Error('The changes of a team are missing in an answer')
      reader.begin(after, found)
      followed.after ??= found.last
      return reader
    } catch (error) {
      leave()
      throw error
    }
  }

  async #read(): Promise<void> {
    const asked = new Map([...this.#followed].filter(([, { after }]) => after !== undefined))
    if (asked.size === 0) return
    const teams = [...asked].map(([team, { after }]) => ({ team, after }))
    for (const { team, last, changes } of await this.#list(teams, ownContext(asService('gateway'), this.#timeoutMs))) {
      const followed = asked.get(team)
      // Readers that came when all others had gone begin behind this answer.
      if (followed === undefined || this.#followed.get(team) !== followed) continue
      // The database is another one, or lacks its last changes: what it has is not what follows.
      const isBehind = followed.after !== undefined && last < followed.after
      followed.after = last
      for (const reader of followed.readers) {
        if (isBehind) reader.beginAnew(last)
        else reader.put(changes, last)
      }
    }
  }
}

interface ReaderOptions {
  source: Source
  sinceMs: number
  wake: () => void
  leave: () => void
}

/** Somebody who follows a team at one service: what waits for it is bounded. The numbers tell what is missing. */
class SourceReader {
  readonly leave: () => void
  readonly #source: Source
  readonly #wake: () => void
  /** Nothing is missing from before. */
  sinceMs: number
  #kept: TeamChange[] = []
  /** The last that was delivered, or passed over as missing. */
  #delivered = 0n
  /** The last that there is. */
  #last: bigint | undefined

  constructor({ source, sinceMs, wake, leave }: ReaderOptions) {
    this.#source = source
    this.sinceMs = sinceMs
    this.#wake = wake
    this.leave = leave
  }

  /** Where it begins, known now. What was put here before is behind it, or is among these. */
  begin(after: bigint | undefined, { last, changes }: Pick<ChangesOfTeam, 'last' | 'changes'>): void {
    const before = this.#kept
    this.#kept = []
    // A number from before the database was restored tells nothing.
    const isKnown = after === undefined || after <= last
    this.#delivered = isKnown ? (after ?? last) : -1n
    this.put(isKnown ? changes : [], last)
    this.put(before, before.at(-1)?.number ?? last)
  }

  /** What is missing from before is not known. */
  beginAnew(last: bigint): void {
    this.#kept = []
    this.#delivered = -1n
    this.#last = last
    this.#wake()
  }

  get position(): bigint {
    return this.#delivered < 0n ? 0n : this.#delivered
  }

  put(changes: readonly TeamChange[], last: bigint): void {
    const known = this.#kept.at(-1)?.number ?? this.#delivered
    for (const change of changes) if (change.number > known && this.#kept.length < mostKept) this.#kept.push(change)
    if (this.#last === undefined || last > this.#last) this.#last = last
    if (this.#kept.length > 0 || this.#last !== this.#delivered) this.#wake()
    else this.sinceMs = Math.max(this.sinceMs, Date.now() - latenessMs)
  }

  take(): Delivered | undefined {
    const next = this.#kept[0]
    const source = this.#source
    const expected = this.#delivered + 1n
    if (this.#delivered >= 0n && next?.number === expected) {
      this.#kept.shift()
      this.#delivered = expected
      return { source, number: expected, change: next }
    }
    const until = next === undefined ? (this.#last ?? 0n) : next.number - 1n
    if (until <= this.#delivered && this.#delivered >= 0n) return undefined
    const missed = this.#delivered < 0n ? 0 : Number(until - this.#delivered)
    this.#delivered = until
    return { source, number: until, missed, sinceMs: this.sinceMs }
  }
}

/** What changes in a team beside its executions: one reader for each service and gateway, whoever follows it. */
export class TeamChanges {
  readonly #feeds: Record<Source, SourceFeed>

  constructor(neighbours: Neighbours, timeoutMs: number, logger: Logger) {
    const feed = (source: Source) => new SourceFeed(source, neighbours, timeoutMs, logger)
    this.#feeds = { catalog: feed('catalog'), schedule: feed('schedule'), sandbox: feed('sandbox') }
  }

  start(): void {
    for (const source of sources) this.#feeds[source].start()
  }

  async stop(): Promise<void> {
    await Promise.all(sources.map((source) => this.#feeds[source].stop()))
  }

  /** Follows a team at these services; `wake` is called when there is something to take. Failure: unavailable. */
  async follow(team: string, wanted: readonly Source[], options: FollowOptions): Promise<ChangeReader> {
    const opening = wanted.map((source) => this.#feeds[source].follow(team, options))
    const opened = await Promise.allSettled(opening)
    const readers = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const failed = opened.find((one) => one.status === 'rejected')
    const leave = () => {
      for (const reader of readers) reader.leave()
    }
    if (failed !== undefined) {
      leave()
      throw failed.reason
    }
    const positions = Object.fromEntries(wanted.map((source, place) => [source, readers[place]?.position]))
    const take = () => {
      for (const reader of readers) {
        const delivered = reader.take()
        if (delivered !== undefined) return delivered
      }
      return undefined
    }
    return { positions, take, leave, sinceMs: () => Math.min(...readers.map((reader) => reader.sinceMs)) }
  }
}

interface FollowOptions {
  /** Where services are not named, from now on. */
  after: Positions
  /** Nothing is missing from before. */
  sinceMs: number
  wake: () => void
  context: CallContext
}

/** One who follows. */
export interface ChangeReader {
  /** Where it begins. */
  positions: Positions
  /** The next; undefined while there is none. */
  take(): Delivered | undefined
  leave(): void
  /** Nothing that it has not been told of is from before. */
  sinceMs(): number
}
