import { Status } from '@automation/contract/execution/v1/execution'
import type {
  Hello,
  KilledUsage,
  Logs as LogsMessage,
  Result,
  RunnerMessage,
  Usage,
} from '@automation/contract/runner/v1/runner'
import { Failure } from '@automation/errors'
import type { RunnerPodId } from '@automation/rpc'
import { MessageQueue } from '@automation/rpc/message-queue'
import type { Logger } from '@automation/service'
import { isShownId } from '../execution-id.ts'
import { introduced, type Membership } from './introduction.ts'
import type { Runners, RunnerStream } from './runners.ts'
import type { Ends } from '../end/ends.ts'
import type { KilledRuns } from '../end/killed-runs.ts'
import type { LogBounds } from './log-bounds.ts'
import type { Logs } from './log-writer.ts'
import type { LeftOver, Signals } from '../signals.ts'
import type { Sessions } from './sessions.ts'
import type { Ending } from '../store/end-rows.ts'
import { isOfRun } from '../store/log-chunks.ts'
import { readPool, type PoolGrant } from '../store/team-pools.ts'
import type { Queries } from '../store/connections.ts'
import { storedText, textOf } from '../store/stored-text.ts'

export interface RunnerStreamsContext {
  pool: Queries
  sessions: Sessions
  runners: Runners
  signals: Signals
  ends: Ends
  killedRuns: KilledRuns
  logs: Logs
  logBounds: LogBounds
  returnValueMaxBytes: number
  logger: Logger
}

interface Stream extends RunnerStream {
  /** Results on their way into the database. */
  storing: Set<Promise<void>>
  /** It came with the token of a pool. */
  isOutside: boolean
}

/** What a runner has come with. */
export interface Credentials {
  /** Its key is that of this pod. */
  pod: RunnerPodId | undefined
  /** What its token is good for; undefined for one of this network. */
  grantOf(): Promise<PoolGrant | undefined>
  /** Those that came with the same token are let in one by one. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** And let out, for which nobody waits who renews. */
  outInTurn<T>(work: () => Promise<T>): Promise<T>
}

/** A runner answers sooner where it has slots to give. */
const askAgainMs = 50

/** The Work streams of runners: what they grant, say and bring back. */
export class RunnerStreams {
  readonly #context: RunnerStreamsContext
  readonly #open = new Set<RunnerStream['messages']>()
  #isDraining = false
  /** Results on their way into the database, by run, fence and session: a runner brings them again over each new stream. */
  readonly #storing = new Map<string, Promise<void>>()

  /** When a runner was asked for more slots, by its stream. */
  readonly #askedAtMs = new WeakMap<RunnerStream['messages'], number>()

  constructor(context: RunnerStreamsContext) {
    this.#context = context
    context.signals.leftOver.on((runs) => this.#ask(runs))
  }

  serve(
    requests: AsyncIterable<RunnerMessage>,
    credentials: Credentials,
    signal: AbortSignal,
  ): RunnerStream['messages'] {
    const messages: RunnerStream['messages'] = new MessageQueue(() => 1)
    this.#open.add(messages)
    const close = () => messages.close()
    signal.addEventListener('abort', close, { once: true })
    void this.#read(requests, credentials, messages)
      .then(close, (error: unknown) => messages.close(error as Error))
      .finally(() => {
        signal.removeEventListener('abort', close)
        this.#open.delete(messages)
      })
    return messages
  }

  /** Gives all free slots back, and takes no more: from here no run starts any more. What runs goes on. */
  drain(): void {
    this.#isDraining = true
    for (const stream of this.#context.runners.streams) this.#drain(stream)
  }

  /** Asks one runner after the other for slots that lie idle at other replicas. */
  #ask({ pool, team, languages }: LeftOver): void {
    if (this.#isDraining) return
    const { runners } = this.#context
    const sessions = new Set(runners.slots.couldServe(pool, team, languages))
    const askedAt = ({ messages }: RunnerStream) => this.#askedAtMs.get(messages) ?? -Infinity
    const all = runners.streams.filter(({ sessionId }) => sessions.has(sessionId))
    const [next] = all.toSorted((a, b) => askedAt(a) - askedAt(b))
    if (next === undefined || performance.now() - askedAt(next) < askAgainMs) return
    this.#askedAtMs.set(next.messages, performance.now())
    next.messages.push({ message: { case: 'slotsWanted', value: {} } })
  }

  #drain({ sessionId, messages }: RunnerStream): void {
    messages.push({ message: { case: 'draining', value: {} } })
    this.#context.runners.slots.drain(sessionId, (slots) => returnSlots(messages, slots))
  }

  /** Ends all streams. */
  close(): void {
    for (const messages of this.#open) messages.close()
  }

  async #read(
    requests: AsyncIterable<RunnerMessage>,
    credentials: Credentials,
    messages: RunnerStream['messages'],
  ): Promise<void> {
    let stream: Stream | undefined
    try {
      for await (const { message } of requests) {
        if (message.case === 'hello') {
          if (stream !== undefined) throw outOfTurn('A runner says hello once')
          stream = await credentials.inTurn(() => this.#welcome(message.value, credentials, messages))
        } else if (stream === undefined) throw outOfTurn('A runner says hello first')
        else if (message.case === 'goodbye') return await this.#goodbye(stream, credentials)
        else {
          await this.#hear(stream, message)
          await this.#room(stream)
        }
      }
    } finally {
      if (stream !== undefined) this.#context.runners.close(stream)
    }
  }

  async #welcome(hello: Hello, { pod, grantOf }: Credentials, messages: RunnerStream['messages']): Promise<Stream> {
    const { sessions, runners } = this.#context
    // Not before: the token may have been revoked since the stream began.
    const grant = await grantOf()
    const introduction = introduced(
      hello,
      pod === undefined ? await this.#membershipOf(hello, grant) : await this.#membershipOfPod(pod),
    )
    const isOutside = grant !== undefined
    await sessions.open(introduction.session)
    const stream = { ...introduction.stream, isOutside, messages, storing: new Set<Promise<void>>() }
    runners.open(stream)
    messages.push({ message: { case: 'welcome', value: { leaseMs: sessions.leaseMs, pool: stream.pool } } })
    if (this.#isDraining) this.#drain(stream)
    return stream
  }

  /** The token decides, where there is one; else what the runner says, as who holds the key of this network is believed. */
  async #membershipOf({ pool }: Hello, grant: PoolGrant | undefined): Promise<Membership> {
    if (grant !== undefined) return { ...grant, owner: grant.team }
    const { team: owner, labels = {} } = (await readPool(this.#context.pool, pool)) ?? {}
    return { pool, owner, labels, tokenId: undefined }
  }

  /** The key says the pool. */
  async #membershipOfPod({ id, pool }: RunnerPodId): Promise<Membership> {
    if ((await readPool(this.#context.pool, pool)) !== undefined)
      throw new Failure(
        'failed_precondition',
        'pool_of_team',
        `The pool ${pool} is one team's, runner pods are for all`,
      )
    const team = await this.#context.sessions.teamOfPod(id)
    return { pool, owner: undefined, labels: {}, tokenId: undefined, pod: { id, team } }
  }

  async #hear(stream: Stream, message: RunnerMessage['message']): Promise<void> {
    const { runners, signals } = this.#context
    if (message.case === 'credit') {
      const { slots, team } = message.value
      // What it says itself counts for nothing.
      if (stream.isPod && stream.team === undefined) await this.#lookAtPod(stream)
      runners.grant(stream, slots, team || undefined)
      this.#askedAtMs.delete(stream.messages)
      signals.slotGranted.emit(stream.pool)
      const isBound = !stream.oneTeam || stream.isPod || stream.owner !== undefined
      if (!isBound && team !== '' && stream.team !== team) this.#bind(stream, team)
    } else if (message.case === 'draining') {
      runners.slots.drain(stream.sessionId, (slots) => returnSlots(stream.messages, slots))
    } else if (message.case === 'reclaim')
      returnSlots(stream.messages, runners.slots.reclaim(stream.sessionId, message.value.slots))
    else if (message.case === 'logs') await this.#logs(stream, message.value)
    else if (message.case === 'killedUsage') this.#usedByKilled(stream, message.value)
    else if (message.case === 'result') {
      const storing = this.#result(stream, message.value).finally(() => stream.storing.delete(storing))
      stream.storing.add(storing)
    }
  }

  /** Where that can't be told now, the pod stays nobody's here, until a run is to go there. */
  async #lookAtPod({ sessionId }: Stream): Promise<void> {
    const { runners, sessions, logger } = this.#context
    await sessions.lookAtPod(sessionId, runners).catch((error: unknown) => {
      logger.debug({ err: error, sessionId }, 'whose a runner pod is could not be read')
    })
  }

  /** Reads no further while much of what the stream has brought is not written, or of what it was told not sent. */
  async #room({ storing, messages }: Stream): Promise<void> {
    if (storing.size >= mostStoring) await Promise.race(storing)
    if (messages.unread > mostUnread) throw outOfTurn('The runner does not read what it is told')
  }

  #bind(stream: Stream, team: string): void {
    const { sessions, logger } = this.#context
    stream.team = team
    void sessions.bind(stream.sessionId, team).catch((error: unknown) => {
      logger.warn({ err: error, sessionId: stream.sessionId }, 'whose a runner is was not noted; its renewal does')
    })
  }

  async #logs({ sessionId, isOutside }: Stream, { executionId, fence, chunk }: LogsMessage): Promise<void> {
    if (chunk === undefined || chunk.entries.length === 0 || !isOfRow(executionId, fence)) return
    if (!isOfRun(chunk)) return this.#refuseLines(sessionId, executionId, chunk.first)
    const { logs, logBounds } = this.#context
    const sent = { id: executionId, fence, sessionId, first: chunk.first, entries: chunk.entries }
    const taken = isOutside ? await logBounds.taken(sent) : sent
    if (taken !== undefined) await logs.append(taken)
  }

  #refuseLines(sessionId: string, executionId: string, first: number): void {
    const what =
      'log lines were refused: their numbers are not those of lines of a run; look at the runner of the session'
    this.#context.logger.warn({ sessionId, executionId, first }, what)
  }

  #usedByKilled({ sessionId, owner }: Stream, { executionId, fence, usage }: KilledUsage): void {
    if (isOfRow(executionId, fence))
      this.#context.killedRuns.used({ id: executionId, fence, sessionId, ...usedIn(usage) }, owner ?? sessionId)
  }

  async #result(stream: Stream, result: Result): Promise<void> {
    const { executionId, fence } = result
    if (!isOfRow(executionId, fence)) return
    const { sessionId } = stream
    this.#context.runners.finished(executionId, sessionId)
    const key = `${executionId} ${fence} ${sessionId}`
    try {
      const storing = this.#storing.get(key) ?? this.#store(stream, result).finally(() => this.#storing.delete(key))
      this.#storing.set(key, storing)
      await storing
      stream.messages.push({ message: { case: 'resultStored', value: { executionId } } })
    } catch (error) {
      this.#context.logger.warn({ err: error, executionId }, 'a result was not stored; its runner keeps it')
    }
  }

  async #store({ sessionId, isOutside }: Stream, result: Result): Promise<void> {
    const { logs, logBounds, ends, returnValueMaxBytes } = this.#context
    const { executionId, fence, lastLogs } = result
    await logs.stored(executionId)
    const refused = lastLogs !== undefined && !isOfRun(lastLogs)
    if (refused) this.#refuseLines(sessionId, executionId, lastLogs.first)
    const ending = endingOf(sessionId, refused ? { ...result, lastLogs: undefined } : result, returnValueMaxBytes)
    if (isOutside && ending.logs !== undefined)
      ending.logs = await logBounds.takenLast({ ...ending.logs, id: executionId, fence, sessionId })
    const value =
      ending.status === Status.FINISHED && result.end.case === 'finished' ? result.end.value.returnValue : undefined
    await ends.end(ending, value)
  }

  async #goodbye(stream: Stream, { outInTurn }: Credentials): Promise<void> {
    const { runners, sessions } = this.#context
    runners.close(stream)
    await Promise.all(stream.storing)
    await outInTurn(() => sessions.end(stream.sessionId))
  }
}

function outOfTurn(text: string): Failure {
  return new Failure('failed_precondition', 'no_hello', text)
}

function returnSlots(messages: RunnerStream['messages'], slots: number): void {
  messages.push({ message: { case: 'slotsReturned', value: { slots } } })
}

/** Of results of one stream that are being written, and of messages to it that it has not taken. */
const mostStoring = 256
const mostUnread = 10_000
const longestExplanation = 64 * 1024
const largestLine = 2 ** 31 - 1
// Of milliseconds and of MiB that a runner may tell, so that no sum of them passes what a row can hold.
const largestCpuMs = 2n ** 31n - 1n
const largestMemoryMb = 2n ** 20n
const transientMark = '"[transient]"'

/** Whether a row can have these: another row's statement would fail with them. */
function isOfRow(executionId: string, fence: bigint): boolean {
  return isShownId(executionId) && fence < 2n ** 63n
}

function endingOf(
  sessionId: string,
  { executionId, fence, end, lastLogs, usage }: Result,
  returnValueMaxBytes: number,
): Ending {
  const base = { id: executionId, fence, sessionId, logs: lastLogs, transient: false, ...usedIn(usage) }
  if (end.case !== 'finished')
    return {
      ...base,
      status: Status.ERROR,
      explanation: storedText(
        (end.value?.explanation ?? 'The run ended without a result').slice(0, longestExplanation),
      ),
      errorLine: end.value?.line === undefined ? undefined : Math.min(end.value.line, largestLine),
      // A runner that gives a reason has it in the log, too.
      isOverruled: end.value === undefined,
    }
  const { returnValue, transient } = end.value
  if (returnValue.length > returnValueMaxBytes)
    return {
      ...base,
      status: Status.ERROR,
      explanation: `RangeError: the return value is larger than ${returnValueMaxBytes} bytes`,
      isOverruled: true,
    }
  return { ...base, status: Status.FINISHED, transient, returnValue: transient ? transientMark : textOf(returnValue) }
}

/** What a run took, as rows have it. */
function usedIn(usage: Usage | undefined): { cpuMs?: number; memoryMb?: number } {
  const bounded = (value: bigint, most: bigint) => Number(value < most ? value : most)
  const { cpuMs, memoryMb } = usage ?? {}
  return {
    ...(cpuMs !== undefined && { cpuMs: bounded(cpuMs, largestCpuMs) }),
    ...(memoryMb !== undefined && { memoryMb: bounded(memoryMb, largestMemoryMb) }),
  }
}
