import stripAnsi from 'strip-ansi'

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR'

export const LOG_LEVELS: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR']

export interface LogEntry {
  timestamp: string
  level: LogLevel
  message: string
}

/** One line of the log as it is shown; an entry with line ends is several. */
export interface LogLine {
  /** Without colours and what else is for terminals. */
  text: string
  level: LogLevel
  /** Of the entry's first line; empty in those after it. */
  timestamp: string
}

/** How much of a log is kept. */
interface LogLimit {
  lines: number
  size: number
  /** Logs of earlier releases were cut at a number of characters. */
  unit: string
}

/** What the service writes in place of the lines beyond the limit. */
const CUT = /^The log has reached its limit \((\d+) lines, (\d+) (bytes|characters)\): the rest was dropped$/

/** The lines of a log in the order in which they came. It only grows; `version` is another one after each growth. */
export class LogStore {
  readonly #lines: LogLine[] = []
  readonly #listeners = new Set<() => void>()
  /** Where the log was cut: what it was cut at. */
  limit: LogLimit | undefined
  readonly counts: Record<LogLevel, number> = { DEBUG: 0, INFO: 0, WARNING: 0, ERROR: 0 }

  get size(): number {
    return this.#lines.length
  }

  line(index: number): LogLine | undefined {
    return this.#lines[index]
  }

  append(entries: readonly LogEntry[]): void {
    if (entries.length === 0) return
    for (const { timestamp, level, message } of entries) {
      this.counts[level] += 1
      const cut = level === 'WARNING' ? CUT.exec(message) : null
      if (cut !== null) this.limit = { lines: Number(cut[1]), size: Number(cut[2]), unit: cut[3]! }
      if (!message.includes('\n')) {
        this.#lines.push({ text: stripAnsi(message), level, timestamp })
        continue
      }
      message
        .split('\n')
        .forEach((text, at) => this.#lines.push({ text: stripAnsi(text), level, timestamp: at === 0 ? timestamp : '' }))
    }
    for (const listener of this.#listeners) listener()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** The texts from an index on, for a search beside the page. */
  texts(from: number, to: number): string[] {
    return this.#lines.slice(from, to).map(({ text }) => text)
  }

  /** The whole log as a text to keep, or some lines of it. */
  asText(from = 0, to = this.#lines.length): string {
    return this.#lines
      .slice(from, to)
      .map(({ text, level, timestamp }) => (timestamp === '' ? text : `${timestamp} ${level} ${text}`))
      .join('\n')
  }
}

/** Which lines are shown where only some levels are wanted; undefined: all. */
export function shownLines(store: LogStore, levels: ReadonlySet<LogLevel>): Uint32Array | undefined {
  if (LOG_LEVELS.every((level) => levels.has(level))) return undefined
  const shown = new Uint32Array(store.size)
  let count = 0
  for (let index = 0; index < store.size; index += 1) {
    const line = store.line(index)
    if (line !== undefined && levels.has(line.level)) shown[count++] = index
  }
  return shown.subarray(0, count)
}

/** Where a line stands among those that are shown; where it is not shown, the place of the next one. */
export function placeOf(shown: Uint32Array | undefined, line: number): number {
  if (shown === undefined) return line
  let low = 0
  let high = shown.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((shown[middle] ?? 0) < line) low = middle + 1
    else high = middle
  }
  return low
}
