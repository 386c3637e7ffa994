import { create } from '@bufbuild/protobuf'
import { LogLevel } from '@automation/contract/execution/v1/execution'
import {
  ResultSchema,
  UsageSchema,
  type LogChunk,
  type Result,
  type Run,
  type Usage,
} from '@automation/contract/runner/v1/runner'
import { failPoint } from '@automation/service'
import { runFrame } from '../children/frames.ts'
import type { Used } from '../children/run-meter.ts'
import type { Ending, RunningChild, Task } from '../children/task.ts'
import type { OnLine } from '../logs/output-reader.ts'
import { RunLog } from '../logs/run-log.ts'
import {
  lineIn,
  outOfMemory,
  reasonOf,
  timedOut,
  timelineText,
  type Reason,
  explainBrowser,
  explainRefusal,
  type RunNetwork,
} from './explanation.ts'
import type { Version } from './run-starter.ts'

export interface RunEnvironment {
  memoryMb: number
  logMaxLines: number
  logMaxBytes: number
  returnValueMaxBytes: number
  network: RunNetwork
  sendLogs(run: ActiveRun, chunk: LogChunk): boolean
  called(run: ActiveRun, payload: Buffer): void
  /** Whether it waits for other runs, and takes no slot. */
  isWaiting(run: ActiveRun): boolean
  /** Takes it out of the queue; false when a child has begun it. */
  withdraw(run: ActiveRun): boolean
  /** The run is over and nothing of it is left; `result` is absent where nobody asks for it any more, `used` where it never ran. */
  over(run: ActiveRun, result: Result | undefined, used?: Used): void
}

/** One run from its assignment to its result. */
export class ActiveRun implements Task {
  readonly run: Run
  readonly version: Version
  readonly assignedAt = performance.now()
  readonly #environment: RunEnvironment
  readonly #log: RunLog
  /** Made for the first call of its code. */
  #aborted: AbortController | undefined
  #child: RunningChild | undefined
  #timer: NodeJS.Timeout | undefined
  /** Why the runner ends it, before its child has gone. */
  #verdict: Reason | 'discarded' | undefined
  #isOver = false
  /** Monotonic time at which its time is over. */
  deadline = Infinity

  constructor(run: Run, version: Version, environment: RunEnvironment) {
    this.run = run
    this.version = version
    this.#environment = environment
    this.#log = new RunLog({
      maxLines: environment.logMaxLines,
      maxBytes: environment.logMaxBytes,
      mask: version.mask,
      send: (chunk) => environment.sendLogs(this, chunk),
    })
  }

  get id(): string {
    return this.run.executionId
  }

  get program(): Version['program'] {
    return this.version.program
  }

  get surroundings(): Version['surroundings'] {
    return this.version.surroundings
  }

  get fresh(): boolean {
    return this.run.freshProcess
  }

  get isFull(): boolean {
    return this.#log.isFull
  }

  get child(): RunningChild | undefined {
    return this.#child
  }

  /** It is over, or the runner ends it: what it asked for and has not got is not done any more. */
  get isEnding(): boolean {
    return this.#isOver || this.#verdict !== undefined
  }

  get isWaiting(): boolean {
    return this.#environment.isWaiting(this)
  }

  /** Aborted when the run is over; calls that it made are no longer waited for. */
  get signal(): AbortSignal {
    this.#aborted ??= new AbortController()
    const { signal } = this.#aborted
    // Each abort makes an error anew, and many may ask.
    if (this.#isOver && !signal.aborted) this.#aborted.abort()
    return signal
  }

  frame(number: number): Buffer {
    const { executionId: id, comment, scheduleId, scheduleComment, traceparent, parameters, request } = this.run
    return runFrame(
      { number, id, comment, scheduleId, scheduleComment, traceparent, fresh: this.fresh || undefined },
      parameters.length > 0 ? parameters : emptyObject,
      request,
    )
  }

  started(child: RunningChild): void {
    failPoint('child-started')
    this.#child = child
    const { timeoutMs } = this.run
    this.deadline = performance.now() + timeoutMs
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.fail(timedOut(timeoutMs)), timeoutMs)
  }

  readonly output: OnLine = (level, text, wasCut, timeUs) => this.#log.add(level, text, wasCut, timeUs)

  called(payload: Buffer): void {
    if (!this.isEnding) this.#environment.called(this, payload)
  }

  /** Ends the run with this reason, once nothing of it is left. */
  fail(why: Reason, how: 'terminate' | 'kill' = 'terminate'): void {
    this.#judge(why, how)
  }

  failOfMemory(): void {
    this.#judge(outOfMemory(this.#environment.memoryMb), 'kill')
  }

  /** Ends the run without a result: nobody asks for it. */
  discard(how: 'terminate' | 'kill'): void {
    this.#judge('discarded', how)
  }

  repeatLogs(): void {
    this.#log.repeat()
  }

  ended(ending: Ending, used?: Used): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#aborted?.abort()
    if (this.#verdict === 'discarded') {
      this.#log.discard()
      return this.#environment.over(this, undefined, used)
    }
    const result = this.#verdict === undefined ? this.#resultOf(ending) : this.#failed(this.#verdict)
    if (used !== undefined) result.usage = usageOf(used)
    this.#environment.over(this, result, used)
  }

  #judge(verdict: Reason | 'discarded', how: 'terminate' | 'kill'): void {
    if (this.#isOver) return
    if (this.#verdict === undefined || verdict === 'discarded') this.#verdict = verdict
    if (this.#child !== undefined) this.#child.end(how)
    else if (this.#environment.withdraw(this)) this.ended(neverBegan)
  }

  #resultOf(ending: Ending): Result {
    const { memoryMb, returnValueMaxBytes, network } = this.#environment
    if (ending.kind !== 'value') {
      const reason = reasonOf(ending, memoryMb)
      const line = ending.kind === 'failure' ? lineIn(reason, this.version.fileName) : undefined
      return this.#failed(explainBrowser(explainRefusal(reason, network)), line)
    }
    if (ending.json.length > returnValueMaxBytes)
      return this.#failed(
        reasonOf(
          { kind: 'failure', name: 'RangeError', message: 'The return value is too large', stack: '' },
          memoryMb,
        ),
      )
    const value = { returnValue: ending.json, transient: ending.transient }
    return this.#result({ case: 'finished', value })
  }

  #failed({ explanation, log }: Reason, line?: number): Result {
    this.#log.addFinal(LogLevel.ERROR, log)
    const text = timelineText(this.version.mask(explanation))
    return this.#result({ case: 'failed', value: { explanation: text, line } })
  }

  #result(end: NonNullable<Parameters<typeof create<typeof ResultSchema>>[1]>['end']): Result {
    const { executionId, fence } = this.run
    return create(ResultSchema, { executionId, fence, end, lastLogs: this.#log.takeRest() })
  }
}

/** As a message. */
export function usageOf({ cpuMs, memoryMb }: Used): Usage {
  return create(UsageSchema, {
    cpuMs: cpuMs === undefined ? undefined : BigInt(cpuMs),
    memoryMb: memoryMb === undefined ? undefined : BigInt(memoryMb),
  })
}

const neverBegan: Ending = { kind: 'failure', name: 'Error', message: 'The run was never begun', stack: '' }
const emptyObject = Buffer.from('{}')
