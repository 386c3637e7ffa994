import type { RunSpecSchema } from '@automation/contract/catalog/v1/resolve'
import { Language } from '@automation/contract/common/v1/language'
import {
  LogLevel,
  type LogEntry,
  type OutcomeSchema,
  type StartExecutionResponseSchema,
} from '@automation/contract/execution/v1/execution'
import { RunService, type ProcessCall } from '@automation/contract/run/v1/run'
import {
  RunnerService,
  type Hello,
  type KilledUsage,
  type LogChunk,
  type ReplicaMessageSchema,
  type Result,
  type RunnerMessage,
  type RunSchema,
} from '@automation/contract/runner/v1/runner'
import { Failure, unavailable } from '@automation/errors'
import { served, type CallContext, type ServedService } from '@automation/rpc'
import { MessageQueue } from '@automation/rpc/message-queue'
import type { MessageInitShape } from '@bufbuild/protobuf'

type Outgoing = MessageInitShape<typeof ReplicaMessageSchema>

/** How a run ended, as a replica learns it. */
export interface Ended {
  result: Result
  /** The return value, parsed; undefined for a failed run. */
  value: unknown
  transient: boolean
  explanation: string | undefined
  log: LogEntry[]
}

export interface RunOptions {
  parameters?: unknown
  request?: unknown
  run?: MessageInitShape<typeof RunSchema>
  spec?: MessageInitShape<typeof RunSpecSchema>
}

interface Assigned {
  chunks: Map<number, LogEntry[]>
  ended: PromiseWithResolvers<Ended>
}

/** A replica of execution that a test writes the script of: it assigns runs and keeps what comes back. */
export class ScriptedReplica {
  leaseMs = 15_000
  credit = 0
  /** Whose the runner said it is, with each credit. */
  readonly teams: string[] = []
  /** While false, results are taken and not acknowledged. */
  stores = true
  /** What RenewSession throws for a session, if anything. */
  renewalFailure: (sessionId: string) => Failure | undefined = () => undefined
  readonly hellos: Hello[] = []
  readonly renewals: { sessionId: string; executionIds: string[]; atMs: number; idleMs: number; team: string }[] = []
  readonly results: Result[] = []
  readonly killedUsage: KilledUsage[] = []
  readonly endedIds = new Set<string>()
  readonly calls: { method: string; call: ProcessCall; context: CallContext }[] = []
  onStart = async (_call: ProcessCall): Promise<MessageInitShape<typeof StartExecutionResponseSchema>> => ({})
  onRun = async (_call: ProcessCall): Promise<MessageInitShape<typeof OutcomeSchema>> => ({})
  goodbyes = 0
  /** No stream to it comes about. */
  isAway = false
  /** The first lines of the chunks of logs that came. */
  readonly heard: number[] = []
  /** The runner has taken its slots back, but for as many as have an assignment on its way. */
  isDrained = false
  onItsWay = 0
  readonly #assigned = new Map<string, Assigned>()
  readonly #specs = new Map<string, string>()
  #outbox: MessageQueue<Outgoing> | undefined
  #count = 0

  get services(): ServedService[] {
    return [
      served(RunnerService, {
        work: (requests, context) => this.#work(requests, context),
        renewSession: ({ sessionId, executionIds, idleMs, team }) => {
          this.renewals.push({ sessionId, executionIds, atMs: performance.now(), idleMs: Number(idleMs), team })
          const failure = this.renewalFailure(sessionId)
          if (failure !== undefined) throw failure
          return { endedExecutionIds: executionIds.filter((id) => this.endedIds.has(id)) }
        },
      }),
      served(RunService, {
        startProcess: (call, context) => {
          this.calls.push({ method: 'run', call, context })
          return this.onStart(call)
        },
        runProcess: (call, context) => {
          this.calls.push({ method: 'runSync', call, context })
          return this.onRun(call)
        },
      }),
    ] as ServedService[]
  }

  get isConnected(): boolean {
    return this.#outbox !== undefined && this.credit > 0
  }

  /** Assigns a run of this source; resolves with its end. */
  run(source: string, options: RunOptions = {}): Promise<Ended> {
    return this.hand(source, options).ended
  }

  hand(
    source: string,
    { parameters = {}, request, run, spec }: RunOptions = {},
  ): { id: string; ended: Promise<Ended> } {
    const id = run?.executionId ?? `run-${(this.#count += 1)}`
    const assigned: Assigned = { chunks: new Map(), ended: Promise.withResolvers<Ended>() }
    this.#assigned.set(id, assigned)
    const specKey = this.#put(source, spec)
    this.credit -= 1
    this.send({
      case: 'run',
      value: {
        executionId: id,
        fence: 1n,
        specKey,
        parameters: Buffer.from(JSON.stringify(parameters)),
        request: request === undefined ? undefined : Buffer.from(JSON.stringify(request)),
        timeoutMs: 30_000,
        token: `token of ${id}`,
        ...run,
      },
    })
    return { id, ended: assigned.ended.promise }
  }

  /** Lets go of the runs that have ended. */
  forget(): void {
    for (const { executionId } of this.results) this.#assigned.delete(executionId)
    this.results.length = 0
  }

  /** The log of a run so far. */
  logOf(id: string): LogEntry[] {
    const { chunks } = this.#assigned.get(id)!
    return [...chunks].toSorted(([a], [b]) => a - b).flatMap(([, entries]) => entries)
  }

  /** Nothing of the logs that came so far was stored. */
  loseLogs(): void {
    for (const { chunks } of this.#assigned.values()) chunks.clear()
  }

  send(message: NonNullable<Outgoing['message']>): void {
    this.#outbox?.push({ message })
  }

  kill(executionId: string): void {
    this.send({ case: 'kill', value: { executionId } })
  }

  /** Breaks the stream, as a replica that goes away. */
  drop(): void {
    this.#outbox?.close()
  }

  #put(source: string, spec: RunOptions['spec']): string {
    const content = JSON.stringify([source, spec])
    const known = this.#specs.get(content)
    if (known !== undefined) return known
    const key = `spec-${this.#specs.size + 1}`
    this.#specs.set(content, key)
    const base = {
      team: 'demo',
      timeZone: 'Europe/Bucharest',
      processId: 'p-1',
      processName: 'Demo',
      processSlug: 'demo',
    }
    const digest = JSON.stringify([source, spec?.digest])
    const value = { ...base, language: Language.JAVASCRIPT, sourceCode: source, ...spec, digest }
    this.send({ case: 'putSpec', value: { key, spec: value } })
    return key
  }

  async *#work(requests: AsyncIterable<RunnerMessage>, { signal }: CallContext): AsyncIterable<Outgoing> {
    if (this.isAway) throw unavailable('away')
    const outbox = (this.#outbox = new MessageQueue<Outgoing>())
    this.credit = 0
    this.#specs.clear()
    signal.addEventListener('abort', () => outbox.close())
    void this.#listen(requests, outbox)
    try {
      yield* outbox
    } finally {
      if (this.#outbox === outbox) this.#outbox = undefined
    }
  }

  async #listen(requests: AsyncIterable<RunnerMessage>, outbox: MessageQueue<Outgoing>): Promise<void> {
    try {
      for await (const { message } of requests) this.#hear(message, outbox)
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
    }
    outbox.close()
  }

  #hear(message: RunnerMessage['message'], outbox: MessageQueue<Outgoing>): void {
    if (message.case === 'hello') {
      this.hellos.push(message.value)
      outbox.push({ message: { case: 'welcome', value: { leaseMs: this.leaseMs } } })
    } else if (message.case === 'credit') {
      this.credit += message.value.slots
      this.teams.push(message.value.team)
    } else if (message.case === 'logs') {
      this.heard.push(message.value.chunk?.first ?? 0)
      this.#keep(message.value.executionId, message.value.chunk)
    } else if (message.case === 'result') this.#result(message.value)
    else if (message.case === 'killedUsage') this.killedUsage.push(message.value)
    else if (message.case === 'draining') {
      outbox.push({ message: { case: 'slotsReturned', value: { slots: this.credit - this.onItsWay } } })
      this.credit = this.onItsWay
      this.isDrained = true
    } else if (message.case === 'reclaim') {
      const slots = Math.min(message.value.slots, this.credit)
      this.credit -= slots
      outbox.push({ message: { case: 'slotsReturned', value: { slots } } })
    } else if (message.case === 'goodbye') {
      this.goodbyes += 1
      outbox.close()
    }
  }

  #keep(id: string, chunk: LogChunk | undefined): void {
    const chunks = this.#assigned.get(id)?.chunks
    if (chunk !== undefined && chunks !== undefined && !chunks.has(chunk.first)) chunks.set(chunk.first, chunk.entries)
  }

  #result(result: Result): void {
    this.results.push(result)
    const { executionId, end, lastLogs } = result
    this.#keep(executionId, lastLogs)
    if (this.stores) this.send({ case: 'resultStored', value: { executionId } })
    const finished = end.case === 'finished' ? end.value : undefined
    this.#assigned.get(executionId)?.ended.resolve({
      result,
      value: finished && JSON.parse(Buffer.from(finished.returnValue).toString()),
      transient: finished?.transient ?? false,
      explanation: end.case === 'failed' ? end.value.explanation : undefined,
      log: this.logOf(executionId),
    })
  }
}

/** The log as `LEVEL message` lines. */
export function lines(log: LogEntry[]): string[] {
  return log.map(({ level, message }) => `${LogLevel[level]} ${message}`)
}
