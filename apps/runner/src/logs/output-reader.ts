import { LogLevel } from '@automation/contract/execution/v1/execution'
import { LineSplitter } from './line-splitter.ts'

/** Takes one entry as a child printed it. `wasCut`: only its start is there. `timeUs`: the child's own word for when. */
export type OnLine = (level: LogLevel, text: string, wasCut: boolean, timeUs?: number) => void

// A record in standard output; children/javascript/output.js writes them.
const mark = Buffer.from([0xff, 0x00, 0xfe, 0x01])
const headBytes = 17
const rawError = 16
const recordMaxBytes = 512 * 1024
const levels: (LogLevel | undefined)[] = [undefined, LogLevel.DEBUG, LogLevel.INFO, LogLevel.WARNING, LogLevel.ERROR]
const noiseBegins = /^(?:<--- Last few GCs --->|----- Native stack trace -----|FATAL ERROR: |# Fatal )/
const wordsOfDeath = ['<--- Last few GCs', 'FATAL ERROR']
const noiseMax = 200

/**
 * Reads what a child prints: in standard output records of `console` between raw bytes, in standard error raw bytes.
 * What Node prints when it dies is kept apart: it speaks of this machine, not of the user's code.
 */
export class OutputReader {
  readonly #onLine: OnLine
  readonly #output: LineSplitter
  readonly #errors: LineSplitter
  #rest: Buffer | undefined
  #noise: { text: string; wasCut: boolean }[] = []

  constructor(onLine: OnLine) {
    this.#onLine = onLine
    this.#output = new LineSplitter((text, wasCut) => onLine(LogLevel.INFO, text, wasCut))
    this.#errors = new LineSplitter((text, wasCut) => this.#error(text, wasCut))
  }

  standardOutput(chunk: Buffer): void {
    let bytes = chunk
    if (this.#rest !== undefined) {
      bytes = Buffer.concat([this.#rest, chunk])
      this.#rest = undefined
    }
    for (let at = 0; at < bytes.length;) {
      const next = this.#next(bytes, at)
      if (next === undefined) return
      at = next
    }
  }

  standardError(chunk: Buffer): void {
    this.#errors.push(chunk)
  }

  /** Reads standard error when nothing of it is kept, only for what it says of a death. */
  lastWords(chunk: Buffer): void {
    if (wordsOfDeath.some((words) => chunk.includes(words))) this.#errors.push(chunk)
  }

  /** The run is over: what is left is its last line. `died`: what Node said about the death is dropped. */
  end(died: boolean): void {
    if (this.#rest !== undefined) this.#output.push(this.#rest)
    this.#rest = undefined
    this.#output.flush()
    this.#errors.flush()
    if (!died) this.#emitNoise()
    this.#noise = []
  }

  /** Whether the last words of the child tell of memory. */
  get diedOfMemory(): boolean {
    return this.#noise.some(({ text }) => /out of memory|allocation failed|reached heap limit/i.test(text))
  }

  /** Reads raw bytes up to a record, or a record; undefined when the rest of it has yet to come. */
  #next(bytes: Buffer, at: number): number | undefined {
    const found = bytes.indexOf(mark, at)
    if (found < 0) {
      const end = bytes.length - startOfMark(bytes, at)
      if (end > at) this.#output.push(bytes.subarray(at, end))
      if (end < bytes.length) this.#rest = bytes.subarray(end)
      return bytes.length
    }
    if (found > at) this.#output.push(bytes.subarray(at, found))
    if (bytes.length < found + headBytes) return this.#wait(bytes, found)
    const size = bytes.readUInt32LE(found + 13)
    const kind = bytes[found + 4]!
    if (size > recordMaxBytes || (kind !== rawError && levels[kind] === undefined)) {
      this.#output.push(bytes.subarray(found, found + 1))
      return found + 1
    }
    const end = found + headBytes + size
    if (bytes.length < end) return this.#wait(bytes, found)
    if (kind === rawError) this.#errors.push(bytes.subarray(found + headBytes, end))
    else this.#record(kind, bytes.readDoubleLE(found + 5), bytes.toString('utf8', found + headBytes, end))
    return end
  }

  #wait(bytes: Buffer, at: number): undefined {
    this.#rest = bytes.subarray(at)
  }

  #record(kind: number, timeUs: number, text: string): void {
    this.#output.flush()
    this.#errors.flush()
    this.#onLine(levels[kind]!, text, false, timeUs)
  }

  #error(text: string, wasCut: boolean): void {
    // Before its last words Node prints an empty line.
    const mayBegin = text === '' || noiseBegins.test(text)
    if (!mayBegin && this.#noise.every((held) => held.text === '')) {
      this.#emitNoise()
      return this.#onLine(LogLevel.ERROR, text, wasCut)
    }
    if (this.#noise.length < noiseMax) this.#noise.push({ text, wasCut })
  }

  #emitNoise(): void {
    for (const { text, wasCut } of this.#noise) this.#onLine(LogLevel.ERROR, text, wasCut)
    this.#noise = []
  }
}

/** How many bytes at the end may be the start of a mark. */
function startOfMark(bytes: Buffer, from: number): number {
  for (let length = Math.min(mark.length - 1, bytes.length - from); length > 0; length -= 1) {
    if (bytes.compare(mark, 0, length, bytes.length - length) === 0) return length
  }
  return 0
}
