import type { WatchTeamResponse } from '@automation/contract/execution/v1/team_event'
import type { Cursor } from '@automation/events'
import type { TeamEventRow } from '../store/team-events.ts'
import { gapMessage, type TeamEvent } from './team-event-message.ts'

/** How much is kept for a reader that is slow, in bytes; a single event may have more. */
const mostKeptBytes = 1024 * 1024

/** Somebody who follows a team: what waits for it is bounded, and what has no room becomes a gap. */
export class TeamReader {
  readonly team: string
  readonly #processId: string
  readonly #behind: Cursor | undefined
  readonly #kept: TeamEvent[] = []
  #bytes = 0
  #gap: { missed: number; since: Date; position: string } | undefined
  #from: bigint | undefined
  #wake: (() => void) | undefined

  /** `processId`: empty for all. `behind`: what it has had before. */
  constructor(team: string, processId: string, behind: Cursor | undefined) {
    this.team = team
    this.#processId = processId
    this.#behind = behind
  }

  get hasBegun(): boolean {
    return this.#from !== undefined
  }

  /** All events from this number on are put here. */
  begin(from: bigint): void {
    if (this.#from !== undefined) return
    this.#from = from
    this.#wake?.()
  }

  /** From which number on events are put here, once that is known; undefined where the signal is aborted before. */
  async begun(signal: AbortSignal): Promise<bigint | undefined> {
    while (this.#from === undefined && !signal.aborted) await this.#woken(signal)
    return this.#from
  }

  /** Whether it is of the process that is followed, and was not told before. */
  wants({ processId, xid, position }: TeamEventRow): boolean {
    if (this.#processId !== '' && this.#processId !== processId) return false
    const had = this.#behind
    return had === undefined || (xid >= had.from && (xid >= had.to || position > had.position))
  }

  /** Waits for nobody. */
  put(event: TeamEvent): void {
    if (!this.wants(event.row)) return
    const isFull = this.#kept.length > 0 && this.#bytes + event.bytes > mostKeptBytes
    if (isFull || this.#gap !== undefined) {
      const { position } = event.message
      const { missed, since } = this.#gap ?? { missed: 0, since: event.row.at }
      this.#gap = { missed: missed + 1, since, position }
    } else {
      this.#kept.push(event)
      this.#bytes += event.bytes
    }
    this.#wake?.()
  }

  /** What is put here, as it comes, until the signal is aborted. */
  async *events(signal: AbortSignal): AsyncGenerator<WatchTeamResponse> {
    while (!signal.aborted) {
      const next = this.#take()
      if (next === undefined) await this.#woken(signal)
      else yield next
    }
  }

  #take(): WatchTeamResponse | undefined {
    const next = this.#kept.shift()
    if (next !== undefined) {
      this.#bytes -= next.bytes
      return next.message
    }
    const gap = this.#gap
    this.#gap = undefined
    return gap && gapMessage(gap)
  }

  async #woken(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#wake = wake
      signal.addEventListener('abort', wake, { once: true })
    })
    this.#wake = undefined
  }
}
