import { create } from '@bufbuild/protobuf'
import { LogLevel, type LogEntry } from '@automation/contract/execution/v1/execution'
import { LogChunkSchema, type LogChunk } from '@automation/contract/runner/v1/runner'
import { shown as stars, type Mask } from './masking.ts'
import { SecretLines } from './secret-lines.ts'

const chunkEveryMs = 50
const chunkBytes = 64 * 1024
const lineMaxCharacters = 64 * 1024
const repeatWithinMs = 5000

export interface RunLogOptions {
  maxLines: number
  maxBytes: number
  mask: Mask
  /** Sends a chunk; false when nobody is there to take it, then it is offered again. */
  send(chunk: LogChunk): boolean
}

/**
 * The log of one run on its way to execution: bounded, masked, in chunks of about 50 ms. Times never go back.
 */
export class RunLog {
  readonly #options: RunLogOptions
  #pending: LogEntry[] = []
  #pendingBytes = 0
  #first = 0
  #lines = 0
  #bytes = 0
  #full = false
  #lastUs = Math.round(nowUs())
  #timer: NodeJS.Timeout | undefined
  readonly #secretLines: SecretLines
  #sent: { at: number; chunk: LogChunk }[] = []
  /** Of what was sent, what is to be sent once more and nobody has taken yet. */
  #lost: LogChunk[] = []
  #forgetting: NodeJS.Timeout | undefined
  #stoppedAt: number | undefined

  constructor(options: RunLogOptions) {
    this.#options = options
    this.#secretLines = new SecretLines(options.mask.lineSecrets)
  }

  /** Whether the limit is reached, so that whatever else is printed is dropped. */
  get isFull(): boolean {
    return this.#full
  }

  add(level: LogLevel, text: string, wasCut: boolean, timeUs?: number): void {
    if (this.#full) return
    const shown = this.#endsSecret(text) ? stars : this.#shown(text, wasCut)
    this.#lines += 1
    // No less than the child counts, which prints nothing beyond.
    this.#bytes += Buffer.byteLength(text.length > lineMaxCharacters ? text.slice(0, lineMaxCharacters) : text)
    const { maxLines, maxBytes } = this.#options
    if (this.#lines <= maxLines && this.#bytes <= maxBytes) return this.#push(level, shown, timeUs)
    this.#full = true
    this.#push(
      LogLevel.WARNING,
      `The log has reached its limit (${maxLines} lines, ${maxBytes} bytes): the rest was dropped`,
    )
  }

  /** The runner's own word on the run, which no limit drops. It goes with the rest: only its result makes it true. */
  addFinal(level: LogLevel, text: string): void {
    this.#append(level, this.#shown(text, false))
  }

  /** What is not yet sent, for the result. Nothing is sent afterwards. */
  takeRest(): LogChunk | undefined {
    this.#stop()
    this.#sendLost()
    return this.#pending.length > 0 ? this.#takeChunk() : undefined
  }

  /** Sends what there is, where somebody takes it: nobody asks for the rest. Nothing is sent afterwards. */
  discard(): void {
    this.flush()
    this.#stop()
  }

  /** Sends what there is at once. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#sendLost()) return this.#flushLater()
    if (this.#pending.length === 0) return
    const chunk = this.#takeChunk()
    if (this.#options.send(chunk)) return this.#remember(chunk)
    this.#first = chunk.first
    this.#pending = chunk.entries
    this.#flushLater()
  }

  /**
   * Sends once more what went over a stream that has just broken, or that broke after the rest was taken, as soon as
   * somebody takes it: known chunks are stored once.
   */
  repeat(): void {
    const since = (this.#stoppedAt ?? performance.now()) - repeatWithinMs
    for (const { at, chunk } of this.#sent.splice(0)) if (at > since) this.#lost.push(chunk)
    if (!this.#sendLost()) this.#flushLater()
  }

  /** Whether none is left. */
  #sendLost(): boolean {
    for (let [chunk] = this.#lost; chunk !== undefined; [chunk] = this.#lost) {
      if (!this.#options.send(chunk)) return false
      this.#remember(chunk)
      this.#lost.shift()
    }
    return true
  }

  /** Nobody is there to take it now. */
  #flushLater(): void {
    clearTimeout(this.#timer)
    if (this.#stoppedAt === undefined) this.#timer = setTimeout(() => this.flush(), chunkEveryMs * 4)
  }

  #push(level: LogLevel, message: string, timeUs?: number): void {
    this.#append(level, message, timeUs)
    if (this.#pendingBytes >= chunkBytes) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), chunkEveryMs)
  }

  #append(level: LogLevel, message: string, timeUs = Infinity): void {
    const latest = Math.min(timeUs, nowUs())
    if (latest > this.#lastUs) this.#lastUs = Math.round(latest)
    this.#pending.push({ $typeName: 'automation.execution.v1.LogEntry', timeUs: BigInt(this.#lastUs), level, message })
    this.#pendingBytes += message.length
  }

  /** Whether a secret of several lines ends with this entry; those before it that are not yet sent are hidden, too. */
  #endsSecret(text: string): boolean {
    const found = this.#secretLines.next(text)
    if (found === undefined) return false
    const earlier = this.#pending.slice(Math.max(0, this.#pending.length - found.count + 1))
    for (const [at, entry] of earlier.entries()) {
      const isFirst = at === 0 && earlier.length === found.count - 1
      entry.message = isFirst ? this.#options.mask(found.before) + stars : stars
    }
    return true
  }

  #shown(text: string, wasCut: boolean): string {
    const masked = this.#options.mask(text, wasCut)
    if (!wasCut && masked.length <= lineMaxCharacters) return masked
    return `${masked.slice(0, lineMaxCharacters).toWellFormed()}… (the rest of this line was cut)`
  }

  #takeChunk(): LogChunk {
    const entries = this.#pending
    const first = this.#first
    this.#first += entries.length
    this.#pending = []
    this.#pendingBytes = 0
    return create(LogChunkSchema, { first, entries })
  }

  #remember(chunk: LogChunk): void {
    const now = performance.now()
    while (this.#sent.length > 0 && this.#sent[0]!.at < now - repeatWithinMs) this.#sent.shift()
    this.#sent.push({ at: now, chunk })
    if (this.#stoppedAt !== undefined) return
    // A run that prints no more may be on for long.
    clearTimeout(this.#forgetting)
    this.#forgetting = setTimeout(() => (this.#sent = []), repeatWithinMs).unref()
  }

  #stop(): void {
    this.#stoppedAt = performance.now()
    clearTimeout(this.#timer)
    clearTimeout(this.#forgetting)
  }
}

function nowUs(): number {
  return (performance.timeOrigin + performance.now()) * 1000
}
