import type { LogEntry } from '@automation/contract/execution/v1/execution'
import { LRUCache } from 'lru-cache'
import { isOfRun } from '../store/log-chunks.ts'

export interface LogBoundsOptions {
  /** What runners keep to, as far as they have the settings of the services. */
  logMaxLines: number
  logMaxBytes: number
}

/** Lines that a runner adds of its own, and what no setting makes so small that it would matter. */
const spareLines = 1000
const spareCharacters = 128 * 1024
/** Runners send some lines again over a new stream, and masks may be longer than what they hide. */
const timesCharacters = 8

/**
 * What is taken of the log of a run. Runners bound it by themselves, and less; this is for such as are not to be trusted.
 * Where many thousand runs log at a time, what was counted of some may be forgotten.
 */
export class LogBounds {
  readonly #mostLines: number
  readonly #mostCharacters: number
  readonly #received = new LRUCache<string, number>({ max: 10_000 })

  constructor({ logMaxLines, logMaxBytes }: LogBoundsOptions) {
    this.#mostLines = 2 * logMaxLines + spareLines
    this.#mostCharacters = timesCharacters * (logMaxBytes + spareCharacters)
  }

  /** Why these lines of a run are not taken; undefined where they are, an empty text where it was said before. */
  fault(executionId: string, chunk: { first: number; entries: LogEntry[] }): string | undefined {
    const { first, entries } = chunk
    if (!isOfRun(chunk)) return 'their numbers are not those of lines of a run'
    const before = this.#received.get(executionId) ?? 0
    if (before === Infinity) return ''
    const received = before + entries.reduce((sum, { message }) => sum + message.length, 0)
    const isTooLong = first + entries.length > this.#mostLines || received > this.#mostCharacters
    this.#received.set(executionId, isTooLong ? Infinity : received)
    return isTooLong ? 'its log is longer than LOG_MAX_LINES and LOG_MAX_BYTES allow' : undefined
  }
}
