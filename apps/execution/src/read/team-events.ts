import type {
  WatchTeamRequest,
  WatchTeamResponse,
  WatchTeamResponseSchema,
} from '@automation/contract/execution/v1/team_event'
import { isUuid } from '@automation/contract/forms'
import { invalid, stopping, unavailable } from '@automation/errors'
import type { Cursor } from '@automation/events'
import type { Logger } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { createdAtMs, newExecutionId } from '../execution-id.ts'
import type { Connections, Queries } from '../store/connections.ts'
import { readListed } from '../store/record-list.ts'
import { readTimelines } from '../store/records.ts'
import {
  countMissed,
  readLatest,
  readMissed,
  readNews,
  readPlace,
  readWindow,
  type Missed,
  type TeamEventRow,
} from '../store/team-events.ts'
import { movedXid } from '../store/team-moves.ts'
import { numbersAhead } from '../store/tracked-runs.ts'
import { eventMessage, gapMessage, type TeamEvent } from './team-event-message.ts'
import { TeamReader } from './team-reader.ts'

const pageEvents = 100
/** The most events of its team that somebody is told who comes again. */
const mostMissed = 1000

/**
 * Who follows all executions of a team at this replica. The timeline is read once for all of them, window by window as the
 * outbox is, and only while there is somebody: what begins and ends runs does nothing for it.
 */
export class TeamEvents {
  readonly #reads: Connections
  readonly #events: Connections
  readonly #logger: Logger
  readonly #readers = new Set<TeamReader>()
  readonly #stop = new AbortController()
  /** The window that is read, or where the next one begins; undefined while nobody is here. */
  #cursor: Cursor | undefined
  /** The server that the cursor is of, for as long as it is the one that answers. */
  #server: { name: string; gone: AbortController } = { name: '', gone: new AbortController() }

  /** `events`: on which nobody waits for a run. */
  constructor(reads: Connections, events: Connections, logger: Logger) {
    this.#reads = reads
    this.#events = events
    this.#logger = logger
  }

  /** Failures: invalid_position; unavailable when this replica stops or the database is away. */
  async *watch(
    team: string,
    request: WatchTeamRequest,
    signal: AbortSignal,
  ): AsyncGenerator<MessageInitShape<typeof WatchTeamResponseSchema>> {
    const known = request.after === '' ? undefined : await this.#placeOf(team, request.after)
    if (this.#stop.signal.aborted) throw stopping()
    const { processId } = request
    const reader = new TeamReader(team, processId, known?.behind)
    const { gone } = this.#server
    const left = AbortSignal.any([signal, this.#stop.signal, gone.signal])
    this.#readers.add(reader)
    try {
      const below = await reader.begun(left)
      if (below !== undefined) yield { position: known === undefined ? await this.#beginning(team, below) : '' }
      if (below !== undefined && known !== undefined)
        yield* this.#missed({ team, processId, below, behind: known.behind }, known.at)
      yield* reader.events(left)
    } finally {
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#cursor = undefined
    }
    if (this.#stop.signal.aborted) throw unavailable('The service is stopping')
    if (gone.signal.aborted) throw unavailable('The database is another one now, come again')
  }

  /** Reads what is new for those who are here. */
  async look(): Promise<void> {
    if (this.#readers.size > 0 && (await this.#openWindow())) await this.#readWindow()
  }

  /** Readers at this replica. */
  get count(): number {
    return this.#readers.size
  }

  /** Ends all of them at once; they go on at another replica. */
  close(): void {
    this.#stop.abort()
  }

  /** Whether there is a window to be read. New readers begin where it does. */
  async #openWindow(): Promise<boolean> {
    const known = this.#cursor
    // What a failure has left.
    if (known !== undefined && known.from < known.to) return true
    const { server, horizon, hasEvents, enough } = await readNews(this.#events, known?.to)
    if (server !== this.#server.name && this.#leaveServer(server)) return false
    if (known !== undefined && !hasEvents) {
      this.#begin(known.to)
      return false
    }
    const decided = horizon + (await numbersAhead(this.#events, this.#logger))
    const from = known?.to ?? decided
    const to = enough !== undefined && enough < decided ? enough : decided
    this.#begin(from)
    this.#cursor = { from, to: to > from ? to : from, position: 0n }
    return to > from
  }

  /**
   * The numbers of another server, or of one that has lost its last transactions, may be behind the cursor. Who reads comes
   * again, and is told by the events that it has had. Gives whether anybody has to.
   */
  #leaveServer(name: string): boolean {
    const hasBegun = this.#cursor !== undefined
    const { gone } = this.#server
    this.#server = { name, gone: hasBegun ? new AbortController() : gone }
    this.#cursor = undefined
    if (hasBegun) gone.abort()
    return hasBegun
  }

  #begin(from: bigint): void {
    for (const reader of this.#readers) reader.begin(from)
  }

  async #readWindow(): Promise<void> {
    for (let cursor = this.#cursor; cursor !== undefined && cursor.from < cursor.to; cursor = this.#cursor) {
      const readers = [...this.#readers].filter(({ hasBegun }) => hasBegun)
      const teams = [...new Set(readers.map(({ team }) => team))]
      const rows = teams.length > 0 ? await readWindow(this.#events, cursor, teams, pageEvents) : []
      for (const [team, some] of Map.groupBy(rows, (row) => row.team)) {
        const ofTeam = readers.filter((reader) => reader.team === team)
        const wanted = some.filter((row) => ofTeam.some((reader) => reader.wants(row)))
        const events = await this.#eventsOf(this.#reads, team, wanted, cursor)
        for (const reader of ofTeam) for (const event of events) reader.put(event)
      }
      const { to } = cursor
      const last = rows.length < pageEvents ? undefined : rows.at(-1)
      // Nobody is here any more: who comes begins anew.
      if (this.#cursor !== cursor) return
      this.#cursor = last === undefined ? { from: to, to, position: 0n } : { ...cursor, position: last.position }
    }
  }

  /** Of rows within a window; those of what is not shown any more are left out. */
  async #eventsOf(
    queries: Queries,
    team: string,
    rows: TeamEventRow[],
    window: Pick<Cursor, 'from' | 'to'>,
  ): Promise<TeamEvent[]> {
    if (rows.length === 0) return []
    const ids = [...new Set(rows.map(({ executionId }) => executionId))]
    const [records, timelines] = await Promise.all([readListed(queries, team, ids), readTimelines(queries, ids)])
    const byId = new Map(records.map((record) => [record.id, record]))
    return rows.flatMap((row) => {
      const record = byId.get(row.executionId)
      if (record === undefined) return []
      const position = positionText(row, window)
      const message = eventMessage({ position, row, record, timeline: timelines.get(row.executionId) ?? [] })
      return [{ row, ...message }]
    })
  }

  /** What somebody has missed who comes again, or that it is too much. */
  async *#missed(
    { behind, ...rest }: Omit<Missed, 'behind'> & { behind: Cursor | undefined },
    since: Date,
  ): AsyncGenerator<WatchTeamResponse> {
    if (behind === undefined) {
      yield gapMessage({ missed: 0, since, position: '' })
      return
    }
    const what = { ...rest, behind }
    const { count, isAll } = await countMissed(this.#events, what)
    if (!isAll || count > mostMissed) {
      yield gapMessage({ missed: count, since, position: '' })
      return
    }
    const { team, below } = what
    const queries = this.#reads.forTeam(team)
    for (let position = 0n; ;) {
      const rows = await readMissed(this.#events, what, position, pageEvents)
      const events = await this.#eventsOf(queries, team, rows, { from: behind.from, to: below })
      for (const { message } of events) yield message
      const last = rows.at(-1)
      if (last === undefined || rows.length < pageEvents) return
      position = last.position
    }
  }

  /** The position of a number, behind which all is still to be told. */
  async #beginning(team: string, below: bigint): Promise<string> {
    const latest = await readLatest(this.#reads.forTeam(team), team, below)
    return latest === undefined
      ? `${newExecutionId()}.0.0`
      : `${latest.executionId}.${latest.sequence}.${below - latest.xid}`
  }

  /** What a position says; without a cursor where its event is not kept any more, or never was the team's. */
  async #placeOf(team: string, text: string): Promise<{ behind: Cursor | undefined; at: Date }> {
    const [, id = '', sequence, back, ahead] = pattern.exec(text) ?? []
    if (!isUuid(id) || sequence === undefined || back === undefined)
      throw invalid('/after', 'is not a position of an event', 'invalid_position')
    const createdAt = new Date(Math.min(createdAtMs(id), Date.now()))
    if (sequence === '0') return { behind: { from: 0n, to: 0n, position: 0n }, at: createdAt }
    const place = await readPlace(this.#events, team, id, Number(sequence))
    if (place === undefined) return { behind: undefined, at: createdAt }
    const { xid, position, at } = place
    // It was told in the cell that the team came from, and so may others have been.
    if (xid === movedXid) return { behind: undefined, at }
    if (ahead === undefined) return { behind: { from: xid + BigInt(back), to: xid + BigInt(back), position: 0n }, at }
    const from = xid - BigInt(back)
    return { behind: { from: from > 0n ? from : 0n, to: xid + BigInt(ahead), position }, at }
  }
}

/**
 * That of an event, or of a beginning: an event before it and how far the beginning is ahead of that. The event 0 stands for
 * the beginning of a team that has had none.
 */
const pattern = /^([0-9a-f-]{36})\.(\d{1,9})\.(\d{1,15})(?:\.(\d{1,15}))?$/

/** An event, and how far its window goes before and behind it: enough to find what is behind it. */
function positionText({ executionId, sequence, xid }: TeamEventRow, { from, to }: Pick<Cursor, 'from' | 'to'>): string {
  return `${executionId}.${sequence}.${xid - from}.${to - xid}`
}
