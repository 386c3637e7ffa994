import { LogLevel, type LogEntry } from '@automation/contract/execution/v1/execution'
import { isConnectionFailure } from '@automation/database'
import { LRUCache } from 'lru-cache'
import { chunkWeight, readLogSize, type Chunk, type LogSize } from '../store/log-chunks.ts'
import type { Queries } from '../store/connections.ts'

export interface LogBoundsOptions {
  /** What runners keep to, where they have the settings of the services. */
  logMaxLines: number
  logMaxBytes: number
}

interface Taken extends LogSize {
  /** It was said that the rest is dropped. */
  isFull?: boolean
  /** The rows could not be read. */
  isUnread?: boolean
}

/** Lines that a runner adds of its own, and what no setting makes so small that it would matter. */
const spareLines = 1000
const spareCharacters = 128 * 1024
/** What hides a value may be so many times as long, and JSON takes more than text. */
const timesCharacters = 8
const charactersOfLine = 40
const longestWord = 64 * 1024

/**
 * What is taken of the log of a run from a runner that came with a pool token. Runners bound it by themselves, and less;
 * this is for one that does not. A run counts where its row says that it was handed to the session, so that no runner can
 * use up what another's run may log; what is not remembered is read from the rows again.
 */
export class LogBounds {
  readonly #pool: Queries
  readonly #options: LogBoundsOptions
  readonly #sizes = new LRUCache<string, Promise<Taken | undefined>>({ max: 10_000 })

  constructor(pool: Queries, options: LogBoundsOptions) {
    this.#pool = pool
    this.#options = options
  }

  /**
   * What is taken of these lines, which runners send in their order: all; nothing where the first was taken before, or the
   * run is not the session's; where the log is too long, one line that says so, and nothing afterwards. Where the rows can't
   * be read now, all.
   */
  async taken(chunk: Chunk): Promise<Chunk | undefined> {
    const size = await this.#sizeOf(chunk)
    if (size === undefined || size.isFull || chunk.first < size.lines) return undefined
    const grown = grownBy(size, chunk)
    if (!this.#isTooLong(grown)) {
      Object.assign(size, grown)
      return chunk
    }
    const first = size.lines
    Object.assign(size, { lines: first + 1, isFull: true })
    return { ...chunk, first, entries: [this.#limitReached()] }
  }

  /** What is taken of the lines that come with a result: all; of a log that is too long only the runner's word on an error. */
  async takenLast(chunk: Chunk): Promise<Chunk> {
    const size = await this.#sizeOf(chunk)
    if (size === undefined || (!size.isFull && !this.#isTooLong(grownBy(size, chunk)))) return chunk
    const entries = size.isFull ? [] : [this.#limitReached()]
    const word = chunk.entries.at(-1)
    if (word?.level === LogLevel.ERROR) entries.push({ ...word, message: word.message.slice(0, longestWord) })
    return { ...chunk, first: size.lines, entries }
  }

  async #sizeOf(chunk: Chunk): Promise<Taken | undefined> {
    const key = `${chunk.id} ${chunk.fence} ${chunk.sessionId}`
    const known = this.#sizes.get(key)
    if (known !== undefined) return await known
    const reading = this.#read(chunk)
    this.#sizes.set(key, reading)
    const size = await reading
    if (size === undefined || size.isUnread) this.#sizes.delete(key)
    return size
  }

  async #read(chunk: Chunk): Promise<Taken | undefined> {
    try {
      return await readLogSize(this.#pool, chunk)
    } catch (error) {
      if (!isConnectionFailure(error)) throw error
      return { lines: 0, characters: 0, isUnread: true }
    }
  }

  #isTooLong({ lines, characters }: LogSize): boolean {
    const { logMaxLines, logMaxBytes } = this.#options
    const mostLines = 2 * logMaxLines + spareLines
    const mostCharacters = timesCharacters * (logMaxBytes + spareCharacters) + charactersOfLine * mostLines
    return lines > mostLines || characters > mostCharacters
  }

  #limitReached(): LogEntry {
    const { logMaxLines, logMaxBytes } = this.#options
    const message = `The log has reached its limit (${logMaxLines} lines, ${logMaxBytes} characters): the rest was dropped`
    const timeUs = BigInt(Date.now()) * 1000n
    return { $typeName: 'automation.execution.v1.LogEntry', timeUs, level: LogLevel.WARNING, message }
  }
}

function grownBy({ characters }: LogSize, chunk: Chunk): LogSize {
  return { lines: chunk.first + chunk.entries.length, characters: characters + chunkWeight(chunk) }
}
