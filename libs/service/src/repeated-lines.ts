import type { LogFn } from 'pino'

const windowMs = 5000
/** Beyond these, what is over is forgotten. */
const mostKept = 200
/** Beyond these, also what is not: failures of requests are as many as they. */
const mostAtOnce = 2000

interface Window {
  endsMs: number
  leftOut: number
}

/**
 * Of failures that are told again and again, such as those of a full disk: one line each 5 s, with how many were left out
 * before it.
 */
export class RepeatedLines {
  /** In the order in which they end. */
  readonly #windows = new Map<string, Window>()

  /** What of a line of a logger with these fields is written at a time in milliseconds; undefined where it is left out. */
  written(line: Parameters<LogFn>, ofLogger: object, nowMs: number): Parameters<LogFn> | undefined {
    const key = failureIn(line, ofLogger)
    if (key === undefined) return line
    const window = this.#windows.get(key)
    if (window !== undefined && nowMs < window.endsMs) {
      window.leftOut += 1
      return undefined
    }
    this.#windows.delete(key)
    if (this.#windows.size >= mostKept) this.#forget(nowMs)
    this.#windows.set(key, { endsMs: nowMs + windowMs, leftOut: 0 })
    if (!window?.leftOut) return line
    const [fields, ...words] = line as [fields: object, ...words: string[]]
    return [{ ...fields, leftOut: window.leftOut }, ...words] as Parameters<LogFn>
  }

  #forget(nowMs: number): void {
    for (const [key, { endsMs }] of this.#windows) {
      if (nowMs < endsMs && this.#windows.size < mostAtOnce) return
      this.#windows.delete(key)
    }
  }
}

/** What a line about a failure says, and of what, such as a request or an execution; undefined of all other lines. */
function failureIn([fields, words]: readonly unknown[], ofLogger: object): string | undefined {
  if (typeof fields !== 'object' || fields === null) return undefined
  const { err, ...of } = { ...ofLogger, ...fields } as { err?: unknown; part?: unknown }
  if (err === undefined && of.part !== 'postgres') return undefined
  return [words, err instanceof Error ? err.message : '', ...Object.values(of)].map(String).join(' ')
}
