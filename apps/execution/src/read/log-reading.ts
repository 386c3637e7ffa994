import { countedUpTo, type Window } from '@automation/database'
import type { ListLogsRequest, ReadLogsRequest } from '@automation/contract/execution/v1/execution'
import type { Timestamp } from '@bufbuild/protobuf/wkt'
import { appendedFrom, type LogLine, type LogPage } from '../store/log-pages.ts'
import { linesOf, readChunksFrom, readLastWord } from '../store/updates.ts'
import type { Queries } from '../store/connections.ts'
import { beginning, positionText, readPosition, type Position } from './position.ts'

type Asked = Pick<ListLogsRequest | ReadLogsRequest, 'levels' | 'contains' | 'from' | 'to'>

/** Which lines of a log are asked for; undefined: all. */
type LineFilter = (line: LogLine) => boolean

/** Of lines by their level, their text in any case, and their time, both bounds inclusive. */
export function lineFilter({ levels, contains, from, to }: Asked): LineFilter | undefined {
  if (levels.length === 0 && contains === '' && from === undefined && to === undefined) return undefined
  const wanted = new Set<number>(levels)
  const text = contains.toLowerCase()
  const [fromUs, toUs] = [from === undefined ? -Infinity : microsOf(from), to === undefined ? Infinity : microsOf(to)]
  return ([timeUs, level, message]) =>
    (wanted.size === 0 || wanted.has(level)) &&
    timeUs >= fromUs &&
    timeUs <= toUs &&
    (text === '' || message.toLowerCase().includes(text))
}

function microsOf({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1e6 + nanos / 1000
}

/** Some lines of a log behind a position, in their order. */
export interface LogPiece {
  lines: LogLine[]
  position: Position
  /** There was nothing behind it when it was read. */
  ended: boolean
}

/** The next lines of a log, at most about 128 KiB of them unless one chunk alone is larger. */
export async function readLogPiece(queries: Queries, id: string, from: Position): Promise<LogPiece> {
  const position = { ...from }
  const lines: LogLine[] = []
  for (const [kind, first] of [
    ['lines', 0],
    ['appended', appendedFrom],
  ] as const) {
    const start = first + from[kind]
    for (const chunk of await readChunksFrom(queries, id, start)) {
      lines.push(...linesOf(chunk, start))
      position[kind] = chunk.first + chunk.lines - first
    }
    if (lines.length > 0) return { lines, position, ended: false }
  }
  const word = from.closed === true ? undefined : await readLastWord(queries, id)
  return { lines: word === undefined ? [] : [word], position: { ...position, closed: true }, ended: true }
}

/** A page of the lines that fit. They are counted as lists are; what is behind them is not read. */
export async function readFilteredPage(
  queries: Queries,
  id: string,
  fits: LineFilter,
  { skip, take }: Window,
): Promise<LogPage> {
  const lines: LogLine[] = []
  let total = 0
  for (let from: Position = beginning; ;) {
    const piece = await readLogPiece(queries, id, from)
    for (const line of piece.lines) {
      if (!fits(line)) continue
      if (total >= skip && lines.length < take) lines.push(line)
      total += 1
    }
    if (piece.ended || (total >= countedUpTo && total > skip + take)) return { lines, total }
    from = piece.position
  }
}

// A position of a log alone says nothing of events.
const noEvents = 1

/** The position of a log as its readers keep it, and back. Failure: invalid_position. */
export function logPositionText(id: string, position: Position): string {
  return positionText(id, { ...position, sequence: noEvents })
}

export function readLogPosition(id: string, text: string): Position {
  return readPosition(id, text)
}
