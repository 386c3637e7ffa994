import {
  ExecutionUpdateSchema,
  Status,
  WatchExecutionResponseSchema,
  type ExecutionUpdate,
  type WatchExecutionResponse,
} from '@automation/contract/execution/v1/execution'
import { notFound } from '@automation/errors'
import { create } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { isTerminal } from '../status.ts'
import { appendedFrom, type LogLine } from '../store/log-pages.ts'
import { linesOf, maxEvents, readChunksFrom, readEventsFrom, readLastWord, type TimelineRow } from '../store/updates.ts'
import { endText, positionText, type Position } from './position.ts'
import type { Queries } from '../store/connections.ts'

/** Some updates of an execution, from one position to another. Readers share it. */
export interface Batch {
  messages: WatchExecutionResponse[]
  position: Position
  /** There is nothing behind it, ever. */
  ended: boolean
  /** There may be more at once. */
  more: boolean
  /** The end is there, but a killed run may still print until this time is over. */
  settleMs?: number
}

// Small, because the wire keeps some dozens of them ready for each reader.
const messageCharacters = 8 * 1024
// What a run printed before it was killed is on its way for a moment.
const killedSettleMs = 500

/**
 * Reads what is behind a position: events that are not the end, then lines, and the end once all lines were read. Events
 * are read before lines, so that whoever sees the end sees all that was stored before it. The last of all lines says why
 * something else has ended the run. Failure: execution_not_found
 * where the position never was, or is no more.
 */
export async function readBatch(pool: Queries, id: string, from: Position): Promise<Batch> {
  const known = await readEventsFrom(pool, id, from.sequence)
  if (known.length === 0) throw notFound('execution')
  const events = known.filter(({ sequence }) => sequence > from.sequence)
  const last = known.at(-1)!
  const updates = new Updates(id, from)
  for (const event of events) if (!isTerminal(event.status)) updates.event(event)
  if (await addLines(pool, id, from, updates)) return updates.batch({ more: true })
  if (!isTerminal(last.status)) return updates.batch({ more: known.length === maxEvents })
  const settleMs = last.status === Status.KILLED && events.includes(last) ? killedSettleMs - last.ageMs : 0
  if (settleMs > 0) return updates.batch({ settleMs })
  if (events.includes(last)) {
    const word = last.status === Status.FINISHED || from.closed ? undefined : await readLastWord(pool, id)
    if (word !== undefined) updates.lastWord(word)
    updates.event(last)
  }
  updates.end(last.status)
  return updates.batch({ ended: true })
}

/** True when there may be more lines. */
async function addLines(pool: Queries, id: string, from: Position, updates: Updates): Promise<boolean> {
  const own = await readChunksFrom(pool, id, from.lines)
  for (const chunk of own) updates.lines('lines', chunk.first, linesOf(chunk, from.lines), from.lines)
  if (own.length > 0) return true
  const start = appendedFrom + from.appended
  const appended = await readChunksFrom(pool, id, start)
  for (const chunk of appended)
    updates.lines('appended', chunk.first - appendedFrom, linesOf(chunk, start), from.appended)
  return appended.length > 0
}

class Updates {
  readonly #id: string
  readonly #messages: WatchExecutionResponse[] = []
  readonly #position: Position
  #updates: ExecutionUpdate[] = []
  #characters = 0

  constructor(id: string, from: Position) {
    this.#id = id
    this.#position = { ...from }
  }

  event({ sequence, status, at, explanation }: TimelineRow): void {
    this.#position.sequence = sequence
    this.#position.closed = false
    const value = { status, time: timestampFromDate(at), explanation: explanation ?? undefined }
    this.#add({ case: 'status', value }, explanation?.length)
  }

  lines(kind: 'lines' | 'appended', first: number, lines: ReturnType<typeof linesOf>, from: number): void {
    let number = Math.max(first, from)
    for (const line of lines) {
      this.#position[kind] = ++number
      this.#line(line)
    }
  }

  lastWord(line: LogLine): void {
    this.#position.closed = true
    this.#line(line)
  }

  end(status: Status): void {
    this.#add({ case: 'end', value: status }, 0, endText(this.#id, this.#position))
  }

  batch(how: { ended?: boolean; more?: boolean; settleMs?: number }): Batch {
    this.#flush()
    return { messages: this.#messages, position: this.#position, ended: false, more: false, ...how }
  }

  #line([timeUs, level, message]: LogLine): void {
    this.#add({ case: 'log', value: { timeUs: BigInt(timeUs), level, message } }, message.length)
  }

  #add(update: UpdateInit, characters = 0, position = positionText(this.#id, this.#position)): void {
    this.#updates.push(create(ExecutionUpdateSchema, { position, update }))
    this.#characters += characters + 60
    if (this.#characters >= messageCharacters) this.#flush()
  }

  #flush(): void {
    if (this.#updates.length === 0) return
    this.#messages.push(create(WatchExecutionResponseSchema, { updates: this.#updates }))
    this.#updates = []
    this.#characters = 0
  }
}

type UpdateInit = NonNullable<Parameters<typeof create<typeof ExecutionUpdateSchema>>[1]>['update']
