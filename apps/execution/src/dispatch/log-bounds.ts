import { LogLevel, type LogEntry } from '@automation/contract/execution/v1/execution'
import type { Logger } from '@automation/service'
import { LRUCache } from 'lru-cache'
import { chunkBody, readLogSize, type Chunk, type LogSize } from '../store/log-chunks.ts'
import type { Queries } from '../store/connections.ts'

export interface LogBoundsOptions {
  /** What runners keep to, where they have the settings of the services. */
  logMaxLines: number
  logMaxBytes: number
}

interface Taken extends LogSize {
  /** It was said that the rest is dropped. */
  isFull?: boolean
}

/** Lines that a runner adds of its own, and what no setting makes so small that it would matter. */
const spareLines = 1000
const spareBytes = 128 * 1024
/** What hides a value may be so many times as long, and JSON takes more than text. */
const timesBytes = 8
const bytesOfLine = 40
const longestWord = 64 * 1024

/** How long nothing is asked of a database that has not answered. */
const restMs = 2000

/**
 * What is taken of the log of a run from a runner that came with a pool token. Runners bound it by themselves, and less;
 * this is for one that does not. A run counts where its row says that it was assigned to the session, so that no runner can
 * use up what another's run may log; what is not remembered is read from the rows again.
 */
export class LogBounds {
  readonly #pool: Queries
  readonly #options: LogBoundsOptions
  readonly #logger: Logger
  readonly #sizes = new LRUCache<string, Taken>({ max: 10_000 })
  #restsUntil = -Infinity

  constructor(pool: Queries, options: LogBoundsOptions, logger: Logger) {
    this.#pool = pool
    this.#options = options
    this.#logger = logger
  }

  /**
   * What is taken of these lines: all; nothing where the run is not the session's; where the log is too long, as many as it
   * may have and one that says so, and nothing afterwards. Where the rows can't be read now, all.
   */
  async taken(chunk: Chunk): Promise<Chunk | undefined> {
    const size = await this.#sizeOf(chunk)
    if (size === 'unread') return chunk
    if (size === 'not of the session' || size.isFull) return undefined
    const grown = grownBy(size, chunk)
    if (!this.#isTooLong(grown)) {
      Object.assign(size, grown)
      return chunk
    }
    size.isFull = true
    // A chunk of short lines may be half of a log.
    const part = { ...chunk, entries: chunk.entries.slice(0, Math.max(this.#mostLines - chunk.first, 0)) }
    const grownByPart = grownBy(size, part)
    if (this.#isTooLong(grownByPart)) return { ...chunk, first: size.lines, entries: [this.#limitReached()] }
    Object.assign(size, grownByPart)
    return { ...part, entries: [...part.entries, this.#limitReached()] }
  }

  /** What is taken of the lines that come with a result: all; of a log that is too long only the runner's word on an error. */
  async takenLast(chunk: Chunk): Promise<Chunk> {
    const size = await this.#sizeOf(chunk)
    if (typeof size === 'string' || (!size.isFull && !this.#isTooLong(grownBy(size, chunk)))) return chunk
    const entries = size.isFull ? [] : [this.#limitReached()]
    const word = chunk.entries.at(-1)
    if (word?.level === LogLevel.ERROR) entries.push({ ...word, message: word.message.slice(0, longestWord) })
    // As near to the runner's own numbers as can be: another replica may have the line on the limit behind what is stored.
    const first = Math.max(
      size.lines + Number(size.isFull ?? false),
      chunk.first + chunk.entries.length - entries.length,
    )
    return { ...chunk, first, entries }
  }

  async #sizeOf(chunk: Chunk): Promise<Taken | 'unread' | 'not of the session'> {
    const key = `${chunk.id} ${chunk.fence} ${chunk.sessionId}`
    const known = this.#sizes.get(key)
    if (known !== undefined) return known
    if (performance.now() < this.#restsUntil) return 'unread'
    try {
      const size = await readLogSize(this.#pool, chunk)
      if (size === undefined) return 'not of the session'
      // Lines of one run come one after the other, but not its result.
      const taken = this.#sizes.get(key) ?? size
      this.#sizes.set(key, taken)
      return taken
    } catch (error) {
      // A runner's other words do not wait for this, and none of its lines are lost by it.
      this.#restsUntil = performance.now() + restMs
      this.#logger.warn(
        { err: error, executionId: chunk.id },
        'the size of a log can not be read, and its lines are taken',
      )
      return 'unread'
    }
  }

  #isTooLong({ lines, bytes }: LogSize): boolean {
    const mostBytes = timesBytes * (this.#options.logMaxBytes + spareBytes) + bytesOfLine * this.#mostLines
    return lines > this.#mostLines || bytes > mostBytes
  }

  get #mostLines(): number {
    return 2 * this.#options.logMaxLines + spareLines
  }

  #limitReached(): LogEntry {
    const { logMaxLines, logMaxBytes } = this.#options
    const message = `The log has reached its limit (${logMaxLines} lines, ${logMaxBytes} bytes): the rest was dropped`
    const timeUs = BigInt(Date.now()) * 1000n
    return { $typeName: 'automation.execution.v1.LogEntry', timeUs, level: LogLevel.WARNING, message }
  }
}

function grownBy({ lines, bytes }: LogSize, chunk: Chunk): LogSize {
  const end = chunk.first + chunk.entries.length
  return { lines: Math.max(lines, end), bytes: bytes + Buffer.byteLength(chunkBody(chunk.entries)) }
}
