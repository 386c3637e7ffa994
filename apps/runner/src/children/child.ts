import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { endBelow, endedForMemory } from '@automation/jail'
import { OutputReader } from '../logs/output-reader.ts'
import {
  exitOf,
  failureOf,
  importsOf,
  pidOf,
  type RunTimes,
  runTimesOf,
  uncleanKindOf,
  valueOf,
  wordsOf,
} from './ending.ts'
import { frame, type Frame, FrameReader, FrameType } from './frames.ts'
import type { Launched } from './child-launcher.ts'
import type { RunMeter } from './run-meter.ts'
import type { Spares } from './spares.ts'
import type { Ending, Exit, RunningChild, Surroundings, Task, WhoseMemory } from './task.ts'
import { usualMb } from './retirement.ts'

/** `checking`: its run has been answered, and it looks whether it is clean. */
export type ChildState = 'starting' | 'spare' | 'idle' | 'running' | 'checking' | 'ending' | 'gone'

/** What the pool hears of a child. */
export interface ChildEvents {
  /** Started, and without a program. */
  ready(child: Child): void
  /** Its run has ended and it is clean: the next may come. */
  free(child: Child): void
  /** Its run left behind what can't be put back, of this kind: it ends. */
  unclean(kind: string): void
  gone(child: Child, exit: Exit): void
}

export interface ChildOptions {
  frameMaxBytes: number
  meter: RunMeter
  events: ChildEvents
}

const lastResortMs = 3000
const closeWaitMs = 500
const maxReport = 2000
// Answers that a child does not read wait in this process.
const unreadMaxBytes = 32 * 1024 * 1024
// Printed between two runs, or said in frames that are not due, of which each counts as a few bytes more.
const strayFrameBytes = 128
const strayMaxBytes = 256 * 1024

/** One child process with its channels. It runs one task at a time; what it says is believed only for that one. */
export class Child implements RunningChild {
  readonly spares: Spares
  readonly language: Spares['language']
  state: ChildState = 'starting'
  hasStarted = false
  runs = 0
  /** What it runs; nothing while it is a spare. */
  program = ''
  isCalledAgain = false
  readonly startedAt = performance.now()
  freeSince = performance.now()
  runningSince = 0
  /** Its last run, by its own clock, which does not count the time until this process looked. */
  took: RunTimes = { ms: 0, heldUpMs: 0, waitedMs: 0 }
  /** What it holds, as last measured. */
  measuredMb: number | undefined
  /** Of Python: `shared` where its runs are forks of a template, else why they are not; undefined while nothing has been tried. */
  imports: string | undefined
  readonly meter: RunMeter
  readonly #launched: Launched
  readonly #events: ChildEvents
  readonly #reader: OutputReader
  readonly #outputLimit: OutputLimit
  readonly #answersLimit: OutputLimit
  #surroundings: Surroundings | undefined
  #task: Task | undefined
  #ending: Ending | undefined
  #isClean = false
  #strayBytes = 0
  #exit: Exit | undefined
  #report = ''

  constructor(spares: Spares, launched: Launched, { frameMaxBytes, meter, events }: ChildOptions) {
    this.spares = spares
    this.language = spares.language
    this.#launched = launched
    this.#events = events
    this.meter = meter
    this.#reader = new OutputReader((...line) => this.#task?.output(...line))
    const frames = new FrameReader(
      frameMaxBytes,
      (each) => this.#frame(each),
      (words) => this.#fault(words),
    )
    const { output, errors, frames: input, answers, control } = launched
    this.#outputLimit = new OutputLimit(output, errors)
    output.onBytes((bytes) => this.#printed(bytes, 'standardOutput'))
    errors.onBytes((bytes) => this.#printed(bytes, 'standardError'))
    this.#answersLimit = new OutputLimit(answers)
    // Nothing that it says is due any more once it ends.
    answers.on('data', (chunk: Buffer) =>
      this.state === 'ending' ? this.#answersLimit.dropped(chunk.length) : frames.push(chunk),
    )
    control.on(
      'data',
      (chunk: Buffer) => (this.#report = (this.#report + chunk.toString('latin1')).slice(0, maxReport)),
    )
    let open = 5
    for (const channel of [output, errors, input, answers, control])
      channel.on('close', () => (open -= 1) === 0 && this.#gone(exitOf(this.#report)))
    control.on('close', () => setTimeout(() => this.#gone(exitOf(this.#report)), closeWaitMs))
  }

  /** The launcher's; the child and all that it starts are below it. */
  get pid(): number {
    return pidOf(this.#report)
  }

  /** What it holds; until it is measured, as much as is usual. */
  get memoryMb(): number {
    return this.measuredMb ?? usualMb
  }

  get task(): Task | undefined {
    return this.#task
  }

  /** It is idle, and what its version has imported may go on in it. */
  get keepsImports(): boolean {
    return this.state === 'idle' && this.imports === 'shared'
  }

  /** Its private directory, where that has no size of its own. */
  get directory(): string | undefined {
    return this.#launched.directory
  }

  /** It is a spare, and nobody waits for it: it does what its first program would wait for. One of Python has done so. */
  rehearse(): void {
    if (this.language === 'javascript') this.send(frame(FrameType.rehearse))
  }

  begin(task: Task): void {
    this.#task = task
    this.#ending = undefined
    this.#isClean = false
    this.state = 'running'
    this.runningSince = performance.now()
    this.#outputLimit.begin()
    this.#strayBytes = 0
    this.runs += 1
    this.program = task.program.key
    this.meter.begin(this.pid)
    const { frames } = this.#launched
    frames.cork()
    if (this.runs === 1) frames.write(task.program.frame)
    if (this.#surroundings !== task.surroundings) frames.write(task.surroundings.frame)
    frames.write(task.frame(this.runs))
    frames.uncork()
    this.#surroundings = task.surroundings
    task.started(this)
  }

  send(bytes: Buffer): void {
    if (this.state === 'gone') return
    if (this.#launched.frames.writableLength > unreadMaxBytes) return this.#fault('it does not read answers')
    this.#launched.frames.write(bytes)
  }

  listen(listens: boolean): void {
    const { answers } = this.#launched
    if (listens) answers.resume()
    else answers.pause()
  }

  end(how: 'terminate' | 'kill'): void {
    if (this.state === 'gone') return
    if (this.state !== 'ending') {
      this.state = 'ending'
      setTimeout(() => this.#lastResort(), lastResortMs).unref()
    }
    this.#launched.control.write(how === 'kill' ? 'K' : 'T')
    this.#outputLimit.resume()
    this.listen(true)
  }

  /** The launcher has not done it. What cannot be looked at now is tried again. */
  #lastResort(): void {
    if (this.state === 'gone') return
    setTimeout(() => this.#lastResort(), lastResortMs).unref()
    if (this.pid > 0) endBelow(this.pid, this.directory === undefined).catch(() => undefined)
  }

  #frame({ type, run, payload }: Frame): void {
    // The rest of a chunk of which an earlier frame ended it.
    if (this.state === 'ending') return
    if (type === FrameType.hello && this.state === 'starting') {
      this.state = 'spare'
      this.hasStarted = true
      return this.#events.ready(this)
    }
    if (type === FrameType.unclean) return this.#unclean(payload)
    if (type === FrameType.clean) return this.#clean(run, payload)
    // In JavaScript, process code could say these.
    const isOfPython = this.language === 'python'
    if (type === FrameType.template && isOfPython) return void (this.imports = importsOf(payload))
    if (this.#task === undefined || this.#ending !== undefined || this.state !== 'running')
      return this.#stray(payload.length + strayFrameBytes)
    if (run !== this.runs) return this.#fault('a frame for another run')
    if (type === FrameType.used && isOfPython) return this.meter.said(payload)
    if (type === FrameType.value) this.#answered(valueOf(payload))
    else if (type === FrameType.failure) this.#answered(failureOf(payload))
    else if (type === FrameType.call) this.#task.called(payload)
    else this.#fault(`a frame of type ${type}`)
  }

  /** One turn later all that the run printed has been read: it was written before the answer. */
  #answered(ending: Ending | undefined): void {
    if (ending === undefined) return this.#fault('an answer that is none')
    this.#ending = ending
    if (!this.#outputLimit.isPaused) return void setImmediate(() => this.#conclude())
    this.#outputLimit.resume()
    setImmediate(() => setImmediate(() => this.#conclude()))
  }

  #conclude(): void {
    const task = this.#task
    if (task === undefined) return
    const ending: Ending = this.#ending ?? { kind: 'died', exit: this.#exit! }
    if (ending.kind === 'died') ending.ofMemory = this.#reader.diedOfMemory ? 'run' : whoseMemory(ending.exit)
    this.#reader.end(ending.kind === 'died')
    const used = this.meter.end(this.#exit === undefined ? undefined : this.#report)
    this.#task = undefined
    this.freeSince = performance.now()
    if (this.state === 'running') this.state = 'checking'
    // What is unread would be taken for the next run's.
    if (this.#outputLimit.isPaused) this.end('kill')
    task.ended(ending, used)
    this.#freeIfClean()
  }

  #unclean(payload: Buffer): void {
    this.#events.unclean(uncleanKindOf(payload))
    this.end('kill')
  }

  /** Says what the run took, with `?` where something of it may have printed since its answer. */
  #clean(run: number, payload: Buffer): void {
    if (run !== this.runs || this.#ending === undefined) return this.#fault('a word on a run that is on')
    const words = wordsOf(payload)
    this.took = runTimesOf(words, performance.now() - this.runningSince)
    if (this.language === 'javascript' && !words.includes('?')) return this.#isNowClean()
    // As threads of a Python run may until they are ended: what they did is read in the next turn at the latest.
    setImmediate(() => setImmediate(() => this.#isNowClean()))
  }

  #isNowClean(): void {
    this.#isClean = true
    this.#freeIfClean()
  }

  #freeIfClean(): void {
    if (!this.#isClean || this.state !== 'checking') return
    this.state = 'idle'
    this.#events.free(this)
  }

  #printed(chunk: Buffer, from: 'standardOutput' | 'standardError'): void {
    const task = this.#task
    if (task === undefined) return this.#strayPrinted(chunk.length)
    if (!task.isFull) {
      this.#reader[from](chunk)
      if (!this.#reader.isDropping) return
    } else if (from === 'standardError') this.#reader.lastWords(chunk)
    // Between an answer and the end of its run all is read that came before the answer.
    if (this.#ending === undefined || this.state !== 'running') this.#outputLimit.dropped(chunk.length)
  }

  /** What a version has imported, or a run that has answered, may print while no run is on, which is nobody's. */
  #strayPrinted(bytes: number): void {
    if (this.state === 'ending') return this.#outputLimit.dropped(bytes)
    this.#stray(bytes)
  }

  #stray(bytes: number): void {
    this.#strayBytes += bytes
    if (this.#strayBytes > strayMaxBytes) this.end('kill')
  }

  #fault(words: string): void {
    this.#ending ??= { kind: 'failure', name: 'Error', message: `The process broke its channel: ${words}`, stack: '' }
    this.end('kill')
  }

  #gone(exit: Exit): void {
    if (this.state === 'gone') return
    this.state = 'gone'
    this.#exit = exit
    noteEnded()
    const { output, errors, frames, answers, control } = this.#launched
    for (const stream of [output, errors, frames, answers, control]) stream.destroy()
    this.#conclude()
    this.#events.gone(this, exit)
  }
}

let ended = endedForMemory()
let endedAt = -Infinity

/** Looks whether the kernel has ended a process for memory, whichever it was. */
function noteEnded(): void {
  const endedNow = endedForMemory()
  if (endedNow <= ended) return
  ended = endedNow
  endedAt = performance.now()
}

/** Whose memory was used up where the kernel has ended a process; it may end several at once. */
function whoseMemory(exit: Exit): WhoseMemory | undefined {
  if (exit.kind !== 'signal' || exit.signal !== constants.signals.SIGKILL) return undefined
  noteEnded()
  return performance.now() - endedAt < 1000 ? 'runner' : undefined
}

// What is thrown away is read at about this rate: reading it takes time from everybody.
const bytesAtOnce = 256 * 1024
const pauseMs = 5

type Pausable = Pick<Readable, 'pause' | 'resume'>

/** Slows down a child that prints what nobody keeps, beyond the limits of the log or of a line, or says what is not due. */
class OutputLimit {
  readonly #outputs: readonly Pausable[]
  #bytes = 0
  #paused = false

  constructor(...outputs: Pausable[]) {
    this.#outputs = outputs
  }

  /** Whether something that it has printed may be unread. */
  get isPaused(): boolean {
    return this.#paused
  }

  /** A run begins. */
  begin(): void {
    this.#bytes = 0
  }

  /** So many bytes were thrown away. */
  dropped(bytes: number): void {
    if (this.#paused) return
    this.#bytes += bytes
    if (this.#bytes < bytesAtOnce) return
    this.#bytes = 0
    this.#paused = true
    for (const output of this.#outputs) output.pause()
    setTimeout(() => this.resume(), pauseMs)
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    for (const output of this.#outputs) output.resume()
  }
}
