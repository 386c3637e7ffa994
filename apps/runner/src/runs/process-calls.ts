import { RunService, type ProcessCall } from '@automation/contract/run/v1/run'
import { Status, type Outcome } from '@automation/contract/execution/v1/execution'
import { asFailure, Failure, stoppingCode } from '@automation/errors'
import { textOf } from '@automation/errors/failure-text'
import { asRunWith, isUnreachable, type CallContext, type Client, type Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ProcessCallSchema } from '@automation/contract/run/v1/run'
import { answerFrame } from '../children/frames.ts'
import { objectOf } from '../children/ending.ts'
import type { ActiveRun } from './active-run.ts'
import { headEndOf, headMaxBytes, numberIn, ownBytes } from './call-frames.ts'
import { reason } from './explanation.ts'
import { mostBytes, OpenCalls } from './open-calls.ts'
import { StorageCalls, type Given } from './storage-calls.ts'

type CallInit = MessageInitShape<typeof ProcessCallSchema>

/** Told of runs that wait for others, and asked when they may go on and who assigned them. */
export interface WaitingRuns {
  waits(run: ActiveRun): void
  goesOn(run: ActiveRun): Promise<void>
  /** Its address; undefined while it is away. */
  replicaOf(run: ActiveRun): string | undefined
  /** Whether runs of other teams came a moment ago. */
  isAmongOthers(run: ActiveRun): boolean
}

const noCall = 'a call that is none'
const tooManyBytes = new Failure(
  'too_large',
  'calls_too_large',
  `More than ${mostBytes} bytes of calls are open at once`,
)
const headTooLarge = new Failure(
  'too_large',
  'call_too_large',
  `A call may have at most ${headMaxBytes} bytes beside its parameters or its value`,
)
/** Of a value for the datastore, as storage has it. */
const valueMaxBytes = 64 * 1024
/** Of a piece of a content. */
const pieceMaxBytes = 1024 * 1024

/** What process code asks for, asked with the run's own rights: `svc.processes` of execution, the rest of storage. */
export class ProcessCalls {
  readonly #neighbours: Neighbours
  readonly #anyReplica: Client<typeof RunService>
  readonly #storage: StorageCalls
  readonly #open = new WeakMap<ActiveRun, OpenCalls>()
  readonly #waiting: WaitingRuns
  readonly #logger: Logger
  readonly #parametersMaxBytes: number

  constructor(neighbours: Neighbours, logger: Logger, parametersMaxBytes: number, waiting: WaitingRuns) {
    this.#parametersMaxBytes = parametersMaxBytes
    this.#neighbours = neighbours
    this.#anyReplica = neighbours.client(RunService, 'run')
    this.#storage = new StorageCalls(neighbours)
    this.#waiting = waiting
    this.#logger = logger
  }

  /** Acts on a call frame and answers it. The child is hostile: what is no proper call ends the run. */
  called(run: ActiveRun, payload: Buffer): void {
    this.#openOf(run).add(payload)
  }

  #openOf(run: ActiveRun): OpenCalls {
    const known = this.#open.get(run)
    if (known !== undefined) return known
    const open = new OpenCalls({
      handOn: (payload, isTooMuch) => {
        if (run.isEnding) open.close()
        else if (isTooMuch) this.#refuse(run, open, payload, tooManyBytes, 0)
        else this.#act(run, open, payload)
      },
      listen: (listens) => run.child?.listen(listens),
      isAmongOthers: () => this.#waiting.isAmongOthers(run),
    })
    this.#open.set(run, open)
    return open
  }

  #refuse(run: ActiveRun, open: OpenCalls, payload: Buffer, failure: Failure, heldBytes = payload.length): void {
    const number = numberIn(payload)
    if (!isCount(number)) return broken(run, noCall)
    open.answered(heldBytes)
    run.child?.send(failureFrame(number, failure))
  }

  #act(run: ActiveRun, open: OpenCalls, payload: Buffer): void {
    // Nothing below may hold the payload until the answer: a large one may lie beside it in memory.
    const { length } = payload
    const headEnd = headEndOf(payload)
    if (headEnd > headMaxBytes) return this.#refuse(run, open, payload, headTooLarge)
    const sent = objectOf(payload.subarray(0, headEnd)) ?? {}
    const act = this.#storage.act(sent['method'])
    const failure = this.#bodyTooLarge(length - headEnd - 1, act !== undefined, sent['method'])
    if (failure !== undefined) return this.#refuse(run, open, payload, failure)
    const body = ownBytes(payload.subarray(headEnd + 1))
    const call = act === undefined && headEnd < length ? callOf(sent, body) : undefined
    const number = sent['number']
    if (!isCount(number) || (act === undefined && call === undefined)) return broken(run, noCall)
    const answered =
      call === undefined
        ? this.#given(run, number, () => act!({ ...sent, body }, run, contextOf(run)))
        : this.#answer(run, call)
    void answered.then((answer) => {
      open.answered(length)
      if (!run.isEnding) run.child?.send(answer)
    })
  }

  #bodyTooLarge(bytes: number, isValue: boolean, method: unknown): Failure | undefined {
    const valueMost = method === 'datastore.set' ? valueMaxBytes : pieceMaxBytes
    const most = isValue ? valueMost : this.#parametersMaxBytes
    if (bytes <= most) return undefined
    return isValue
      ? new Failure('too_large', 'value_too_large', `The value is larger than ${most} bytes`)
      : new Failure('too_large', 'parameters_too_large', `The parameters are larger than ${most} bytes`)
  }

  async #answer(run: ActiveRun, { method, number, init }: Call): Promise<Buffer> {
    const context = contextOf(run)
    try {
      if (method === 'run') {
        const { executionId, status } = await this.#asked(run, (client) => client.startProcess(init, context))
        if (status === Status.REJECTED) return answerFrame({ number, error: rejected(init, executionId) })
        return answerFrame({ number, value: executionId })
      }
      this.#waiting.waits(run)
      const outcome = await this.#asked(run, (client) => client.runProcess(init, context)).finally(() =>
        this.#waiting.goesOn(run),
      )
      return outcomeFrame(number, init, outcome)
    } catch (thrown) {
      return this.#failed(run, number, thrown)
    }
  }

  /**
   * The replica that assigned the run counts what it waits for. Where that one goes, another is asked: by its number the
   * call stays the same.
   */
  async #asked<T>(run: ActiveRun, ask: (replica: Client<typeof RunService>) => Promise<T>): Promise<T> {
    const address = this.#waiting.replicaOf(run)
    if (address === undefined) return ask(this.#anyReplica)
    try {
      return await ask(this.#neighbours.at(RunService, address, 'run'))
    } catch (thrown) {
      const failure = asFailure(thrown)
      const isGone = failure.code === stoppingCode || isUnreachable(failure)
      if (run.signal.aborted || !isGone) throw thrown
      return ask(this.#anyReplica)
    }
  }

  async #given(run: ActiveRun, number: number, act: () => Promise<Given>): Promise<Buffer> {
    try {
      const given = await act()
      return 'bytes' in given
        ? answerFrame({ number, more: true }, given.bytes)
        : answerFrame({ number, value: given.value })
    } catch (thrown) {
      return this.#failed(run, number, thrown)
    }
  }

  #failed(run: ActiveRun, number: number, thrown: unknown): Buffer {
    const failure = asFailure(thrown)
    if (failure.kind === 'internal')
      this.#logger.error({ err: failure.cause ?? thrown, executionId: run.id }, 'a call of a run failed')
    return failureFrame(number, failure)
  }
}

interface Call {
  method: 'run' | 'runSync'
  number: number
  init: CallInit
}

function broken(run: ActiveRun, words: string): void {
  run.fail(reason('Error', `The process broke its channel: ${words}`), 'kill')
}

function callOf(sent: Record<string, unknown>, body: Buffer): Call | undefined {
  const { method, number, identifier, tag, comment, settings } = sent
  if ((method !== 'run' && method !== 'runSync') || !isCount(number)) return undefined
  if (typeof identifier !== 'string') return undefined
  return {
    method,
    number,
    init: {
      callNumber: number,
      identifier: identifier.toWellFormed(),
      tag: optionalText(tag) ?? '',
      parameters: Buffer.from(body.toString()),
      comment: optionalText(comment),
      settings: settingsOf(settings),
    },
  }
}

function settingsOf(value: unknown): CallInit['settings'] {
  const { agentPool, callbackUrl, timeoutMs, freshProcess } = (value ?? {}) as Record<string, unknown>
  return {
    agentPool: optionalText(agentPool),
    callbackUrl: optionalText(callbackUrl),
    timeoutMs: isCount(timeoutMs) ? timeoutMs : undefined,
    freshProcess: freshProcess === true,
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 2 ** 32
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toWellFormed() : undefined
}

function contextOf(run: ActiveRun): CallContext {
  const leftMs = Math.max(0, run.deadline - performance.now())
  return {
    principal: asRunWith(run.run.token),
    requestId: crypto.randomUUID(),
    traceparent: run.run.traceparent,
    deadlineMs: Date.now() + leftMs,
    signal: run.signal,
  }
}

const words: Partial<Record<Status, string>> = {
  [Status.ERROR]: 'ERROR',
  [Status.KILLED]: 'KILLED',
  [Status.REJECTED]: 'REJECTED',
}

function failureFrame(number: number, failure: Failure): Buffer {
  const { code, executionId } = failure
  return answerFrame({ number, error: { message: textOf(failure), code, executionId } })
}

function outcomeFrame(number: number, { identifier }: CallInit, outcome: Outcome): Buffer {
  const { executionId, status, returnValue, explanation } = outcome
  if (status === Status.FINISHED) return answerFrame({ number, value: null }, returnValue)
  const word = words[status] ?? Status[status]
  const message = `${identifier} ended as ${word}${explanation ? `: ${explanation}` : ''}`
  return answerFrame({ number, error: { message, executionId, status: word } })
}

function rejected({ identifier }: Pick<ProcessCall, 'identifier'> | CallInit, executionId: string): object {
  return {
    message: `${identifier} was not started: too many runs are waiting`,
    code: 'rejected',
    executionId,
    status: 'REJECTED',
  }
}
