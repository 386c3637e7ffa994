import { LogLevel } from '@automation/contract/execution/v1/execution'

/** Takes one entry as a child printed it. `wasCut`: only its start is there. `timeUs`: the child's own word for when. */
export type OnLine = (level: LogLevel, text: string, wasCut: boolean, timeUs?: number) => void

// A record in standard output; children/javascript/output.js and children/python/output.py write them.
const mark = Buffer.from([0xff, 0x00, 0xfe, 0x01])
const headBytes = 17
const rawError = 16
const fence = 17
const recordMaxBytes = 512 * 1024
// The child cuts a longer text off.
const recordMaxCharacters = 128 * 1024
const levels: (LogLevel | undefined)[] = [undefined, LogLevel.DEBUG, LogLevel.INFO, LogLevel.WARNING, LogLevel.ERROR]
const deathBegins =
  /^(?:<--- Last few GCs --->|----- Native stack trace -----|FATAL ERROR: (?:v8::|node::|.*(?:Allocation failed|out of memory|heap limit))|# Fatal (?:error in|process out of memory|JavaScript )|Fatal Python error: |terminate called after throwing an instance of |memory allocation of \d+ bytes failed)/
/** Lines that Node prints before it says that it dies: whose they are is not known before the next. */
const undecided = /^#?$/
/** What says nothing to who wrote the code: addresses, collections of garbage, empty lines between them. */
const ofTheMachine =
  /^(?:#?$|<--- (?:Last few|JS stack)|----- (?:Native|JavaScript) stack|# Fatal error in|#FailureMessage |\[\d+:0x[0-9a-f]+\] |\s*\d+: 0x[0-9a-f]+(?: |$))/
/** A line of a trace by Python that names code of ours; what it has of that code follows. */
const ownFrame = /^ {2}File "[^"]*\/(?:apps\/runner\/children|libs\/jail)\/(?:python|launcher)\/\w+\.py", line \d+/
const ofOwnFrame = /^ {4}/
/** What Python and its faulthandler say of their own death, where it is of the code. */
const traceBegins = /^Fatal Python error: /
const ofTrace =
  /^(?:Fatal Python error: |Python runtime state: | {2}File "|Extension modules: |(?:Current thread|Thread) 0x)/
const wordsOfDeath = [
  '<--- Last few GCs',
  'FATAL ERROR',
  'Fatal Python error',
  'terminate called',
  'memory allocation of',
]
const noiseMax = 200
const noiseMaxCharacters = 64 * 1024
// More is not kept back for the sake of the order.
const waitingMaxBytes = 1024 * 1024

/** One of the two pipes: what is unread, the last fence it has come to, and how it reads from an offset to the next. */
interface Pipe {
  readonly rest: Unread
  fence: number
  /** Gives the offset it came to, the same when more has to come first. */
  next(bytes: Buffer, at: number): number
}

/**
 * Reads what a child prints: in standard output records of `console` between raw bytes, in standard error raw bytes.
 * What is behind a fence in one of them waits for the other to come to the same: that keeps the order around subprocesses.
 * Of the bytes that it is given it keeps copies. What Node, Python and libraries print when they die is kept apart: it
 * speaks of this machine, not of the user's code.
 */
export class OutputReader {
  readonly #onLine: OnLine
  readonly #output: LineSplitter
  readonly #errors: LineSplitter
  readonly #outputPipe: Pipe = { rest: new Unread(), fence: 0, next: (bytes, at) => this.#nextOutput(bytes, at) }
  readonly #errorPipe: Pipe = { rest: new Unread(), fence: 0, next: (bytes, at) => this.#nextErrors(bytes, at) }
  #isEnding = false
  #noise: { text: string; wasCut: boolean }[] = []
  #noiseCharacters = 0
  #isDeath = false
  #isInOwnFrame = false

  constructor(onLine: OnLine) {
    this.#onLine = onLine
    this.#output = new LineSplitter((text, wasCut) => onLine(LogLevel.INFO, text, wasCut))
    this.#errors = new LineSplitter((text, wasCut) => this.#error(text, wasCut))
  }

  standardOutput(chunk: Buffer): void {
    this.#read(this.#outputPipe, this.#errorPipe, chunk)
  }

  standardError(chunk: Buffer): void {
    this.#read(this.#errorPipe, this.#outputPipe, chunk)
  }

  /** Reads standard error when nothing of it is kept, only for what it says of a death. */
  lastWords(chunk: Buffer): void {
    if (wordsOfDeath.some((words) => chunk.includes(words))) this.#errors.push(chunk)
  }

  /** The run is over: what is left is its last line. `died`: of what its process said about its death only where it was stays. */
  end(died: boolean): void {
    this.#isEnding = true
    this.#advanceBoth()
    this.#isEnding = false
    if (this.#outputPipe.rest.length > 0) this.#output.push(this.#outputPipe.rest.bytes)
    if (this.#errorPipe.rest.length > 0) this.#errors.push(this.#errorPipe.rest.bytes)
    for (const pipe of [this.#outputPipe, this.#errorPipe]) {
      pipe.rest.clear()
      pipe.fence = 0
    }
    this.#output.flush()
    this.#errors.flush()
    if (died) this.#emitTrace()
    else this.#emitNoise()
  }

  /** Whether the last words of the child tell of memory. */
  get diedOfMemory(): boolean {
    return this.#noise.some(({ text }) =>
      /out of memory|allocation failed|memory allocation of|reached heap limit|MemoryError|bad_alloc/i.test(text),
    )
  }

  /** Whether it is within a line of which no more is kept. */
  get isDropping(): boolean {
    return this.#output.isCut || this.#errors.isCut
  }

  #read(pipe: Pipe, other: Pipe, chunk: Buffer): void {
    pipe.rest.add(chunk)
    if (pipe.fence > other.fence && pipe.rest.length > waitingMaxBytes) other.fence = pipe.fence
    this.#advanceBoth()
    pipe.rest.keep()
  }

  #advanceBoth(): void {
    for (;;) {
      const errorsMoved = this.#advance(this.#errorPipe, this.#outputPipe)
      if (!this.#advance(this.#outputPipe, this.#errorPipe) && !errorsMoved) return
    }
  }

  /** Reads as far as it may without the other; false when that was nowhere. */
  #advance(pipe: Pipe, other: Pipe): boolean {
    const { bytes } = pipe.rest
    let at = 0
    while (at < bytes.length && (this.#isEnding || !(pipe.fence > other.fence))) {
      const next = pipe.next(bytes, at)
      if (next === at) break
      at = next
    }
    pipe.rest.drop(at)
    return at > 0
  }

  /** Reads raw bytes up to a mark, or a record. */
  #nextOutput(bytes: Buffer, at: number): number {
    const start = startOfMark(bytes, at)
    if (start > at) this.#output.push(bytes.subarray(at, start))
    if (start > at || bytes.length < start + headBytes) return start
    const size = bytes.readUInt32LE(start + 13)
    const kind = bytes[start + 4]!
    if (kind === fence && size === 0) return passFence(this.#outputPipe, bytes, start)
    if (size > recordMaxBytes || (kind !== rawError && levels[kind] === undefined)) {
      this.#output.push(bytes.subarray(start, start + 1))
      return start + 1
    }
    const end = start + headBytes + size
    if (bytes.length < end) return start
    if (kind === rawError) this.#errors.push(bytes.subarray(start + headBytes, end))
    else this.#record(kind, bytes.readDoubleLE(start + 5), bytes.toString('utf8', start + headBytes, end))
    return end
  }

  /** Reads raw bytes up to a mark, or a fence. */
  #nextErrors(bytes: Buffer, at: number): number {
    const start = startOfMark(bytes, at)
    if (start > at) this.#errors.push(bytes.subarray(at, start))
    if (start > at || bytes.length < start + headBytes) return start
    if (bytes[start + 4] === fence) return passFence(this.#errorPipe, bytes, start)
    this.#errors.push(bytes.subarray(start, start + 1))
    return start + 1
  }

  #record(kind: number, timeUs: number, text: string): void {
    this.#output.flush()
    this.#errors.flush()
    this.#onLine(levels[kind]!, text, text.length >= recordMaxCharacters, timeUs)
  }

  #error(text: string, wasCut: boolean): void {
    this.#isInOwnFrame = ownFrame.test(text) || (this.#isInOwnFrame && ofOwnFrame.test(text))
    if (this.#isInOwnFrame) return
    if (deathBegins.test(text)) this.#isDeath = true
    else if (!this.#isDeath && !undecided.test(text)) {
      this.#emitNoise()
      return this.#onLine(LogLevel.ERROR, text, wasCut)
    }
    this.#noise.push({ text, wasCut })
    this.#noiseCharacters += text.length
    // No death says so much: others print behind it.
    if (this.#noise.length >= noiseMax || this.#noiseCharacters > noiseMaxCharacters) this.#emitNoise()
  }

  /** It was not the child that died: of a subprocess the reason is told, without what speaks of the machine. */
  #emitNoise(): void {
    const shown = this.#isDeath ? this.#noise.filter(({ text }) => !ofTheMachine.test(text)) : this.#noise
    this.#dropNoise()
    for (const { text, wasCut } of shown) this.#onLine(LogLevel.ERROR, text, wasCut)
  }

  /** Where in the code Python was when it died, which its faulthandler tells who asks for it. */
  #emitTrace(): void {
    const begin = this.#noise.findIndex(({ text }) => traceBegins.test(text))
    const trace = begin < 0 ? [] : this.#noise.slice(begin).filter(({ text }) => ofTrace.test(text))
    this.#dropNoise()
    for (const { text, wasCut } of trace) this.#onLine(LogLevel.ERROR, text.replace(/ 0x[\da-f]+/, ''), wasCut)
  }

  #dropNoise(): void {
    this.#noise = []
    this.#noiseCharacters = 0
    this.#isDeath = false
  }
}

function passFence(pipe: Pipe, bytes: Buffer, start: number): number {
  pipe.fence = Math.max(pipe.fence, bytes.readDoubleLE(start + 5))
  return start + headBytes
}

/** Where the next mark begins, or may begin in the last bytes; the end when there is none. */
function startOfMark(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(mark, from)
  if (found >= 0) return found
  for (let length = Math.min(mark.length - 1, bytes.length - from); length > 0; length -= 1) {
    if (bytes.compare(mark, 0, length, bytes.length - length) === 0) return bytes.length - length
  }
  return bytes.length
}

const nothing = Buffer.alloc(0)

/** Bytes that came and are not read yet. To add some costs their own length, however many wait. */
class Unread {
  #bytes: Buffer = nothing
  #isOwn = true
  #start = 0
  #end = 0

  get length(): number {
    return this.#end - this.#start
  }

  /** All of them; what was handed out once and kept is never written over. */
  get bytes(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end)
  }

  /** Adds bytes that stay as they are until `keep` only. */
  add(chunk: Buffer): void {
    if (this.length === 0) {
      this.#set(chunk, chunk.length)
      this.#isOwn = false
      return
    }
    this.keep()
    if (this.#end + chunk.length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow((this.length + chunk.length) * 2)
      this.#set(larger, this.bytes.copy(larger))
    }
    this.#end += chunk.copy(this.#bytes, this.#end)
  }

  /** Makes what is left its own. */
  keep(): void {
    if (!this.#isOwn) this.#set(Buffer.from(this.bytes), this.length)
  }

  /** So many of the first have been read. */
  drop(count: number): void {
    this.#start += count
    if (this.length === 0) this.clear()
  }

  clear(): void {
    this.#set(nothing, 0)
  }

  #set(bytes: Buffer, length: number): void {
    this.#bytes = bytes
    this.#isOwn = true
    this.#start = 0
    this.#end = length
  }
}

// Longer than what is shown, so that a secret across the cut is whole when it is masked.
const keptBytes = 192 * 1024

/**
 * Cuts bytes into lines of text; invalid UTF-8 is replaced, and of a line of any length only the start is kept.
 * Of the bytes that it is given it keeps copies.
 */
export class LineSplitter {
  readonly #onLine: (text: string, wasCut: boolean) => void
  #pieces: Buffer[] = []
  #size = 0
  #cut = false

  constructor(onLine: (text: string, wasCut: boolean) => void) {
    this.#onLine = onLine
  }

  push(bytes: Buffer): void {
    let at = 0
    for (;;) {
      const newline = bytes.indexOf(10, at)
      if (newline < 0) break
      this.#keep(bytes.subarray(at, newline))
      this.#emit()
      at = newline + 1
    }
    if (at < bytes.length && !this.#cut) this.#keep(Buffer.from(bytes.subarray(at, at + keptBytes + 1)))
  }

  /** The last line, when it has no newline. */
  flush(): void {
    if (this.#size > 0) this.#emit()
  }

  /** Whether no more is kept of the line that is on. */
  get isCut(): boolean {
    return this.#cut
  }

  reset(): void {
    this.#pieces = []
    this.#size = 0
    this.#cut = false
  }

  #keep(piece: Buffer): void {
    const leftBytes = keptBytes - this.#size
    if (piece.length > leftBytes) this.#cut = true
    if (leftBytes <= 0 || piece.length === 0) return
    this.#pieces.push(piece.length > leftBytes ? piece.subarray(0, leftBytes) : piece)
    this.#size += Math.min(piece.length, leftBytes)
  }

  #emit(): void {
    const line = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
    const wasCut = this.#cut
    this.reset()
    const end = line.at(-1) === 13 ? line.length - 1 : line.length
    this.#onLine(line.toString('utf8', 0, end), wasCut)
  }
}
