import { LogLevel, Status } from '@automation/contract/execution/v1/execution'
import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { Periodic, type Logger } from '@automation/service'
import type { ExecutionConfig } from '../config.ts'
import type { Egress } from './egress.ts'
import type { Signals } from '../signals.ts'
import type { Metrics } from '../metrics.ts'
import type { RunTraces } from '../run-traces.ts'
import { isTerminal } from '../status.ts'
import {
  claimCallbacks,
  finishCallback,
  giveUpCallback,
  insertCallbacks,
  receiverOf,
  postponeCallback,
  readContent,
  readWanted,
  type CallbackContent,
  type DueCallback,
} from '../store/callbacks.ts'
import { post, type PostResult } from './post.ts'
import type { Queries } from '../store/connections.ts'

interface CallbacksContext {
  pool: Queries
  config: Pick<ExecutionConfig, 'callbackTries' | 'callbackTimeoutMs' | 'callbackPauseMs'>
  egress: Egress
  metrics: Metrics
  traces: RunTraces
  logger: Logger
  signals: Signals
}

const lookMs = 500
/** Tries at work here at once: in all, of one team, of one receiver. A slow receiver holds up nobody else. */
const most = { all: 32, team: 8, receiversPerTeam: 2, perReceiver: 4 }
const longestPauseMs = 3_600_000

/** Tells receivers of the ends of their runs: at least once each, with retries that end at some time. */
export class Callbacks {
  readonly #context: CallbacksContext
  readonly #look: Periodic
  readonly #stop = new AbortController()
  readonly #atWork = new Map<string, { due: DueCallback; done: Promise<void> }>()

  constructor(context: CallbacksContext) {
    this.#context = context
    this.#look = new Periodic('callbacks', lookMs, context.logger, () => this.#lookForDue())
  }

  start(): void {
    this.#look.start()
  }

  /** Consumes lifecycle events: notes which callbacks are due, and no more. */
  async take(events: ExecutionEvent[]): Promise<void> {
    const ends = new Map(
      events.filter(({ status }) => isTerminal(status)).map(({ executionId, sequence }) => [executionId, sequence]),
    )
    if (ends.size === 0) return
    const wanted = await readWanted(this.#context.pool, ends)
    if (wanted.length === 0) return
    await insertCallbacks(
      this.#context.pool,
      wanted.map((one) => ({ ...one, origin: originOf(one.url) })),
    )
    this.#look.soon()
  }

  /** Tries at work are cut off; another replica, or the next start, makes them again. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#look.stop()
    await Promise.all([...this.#atWork.values()].map(({ done }) => done))
  }

  async #lookForDue(): Promise<void> {
    const { pool, config } = this.#context
    const dues = [...this.#atWork.values()].map(({ due }) => due)
    if (this.#stop.signal.aborted || dues.length >= most.all) return
    const perTeam = Map.groupBy(dues, ({ team }) => team)
    const found = await claimCallbacks(pool, {
      limit: most.all - dues.length,
      busyReceivers: [...new Set(dues.map(receiverOf))],
      busyTeams: [...perTeam].filter(([, some]) => some.length >= most.team).map(([team]) => team),
      receiversPerTeam: most.receiversPerTeam,
      perReceiver: most.perReceiver,
      leaseMs: config.callbackTimeoutMs * 2 + 10_000,
    })
    for (const due of found) {
      const done = this.#deliver(due).finally(() => {
        this.#atWork.delete(due.id)
        this.#look.soon()
      })
      this.#atWork.set(due.id, { due, done })
    }
  }

  async #deliver(due: DueCallback): Promise<void> {
    const { pool, metrics, logger, config } = this.#context
    try {
      const content = await readContent(pool, due.id)
      if (content === undefined) return await finishCallback(pool, due.id)
      const result = await this.#try(due, content)
      if (this.#stop.signal.aborted && !result.ok) return
      if (result.ok) {
        metrics.callbacks.inc({ outcome: 'delivered' })
        await finishCallback(pool, due.id)
      } else if (result.final || due.tries >= config.callbackTries) {
        metrics.callbacks.inc({ outcome: 'given_up' })
        await this.#giveUp(due, result.reason)
      } else {
        metrics.callbacks.inc({ outcome: 'failed' })
        await postponeCallback(pool, due.id, pauseAfter(due.tries, config.callbackPauseMs, Math.random()))
      }
    } catch (error) {
      // The row stays as it is, and is due again after its lease.
      if (!this.#stop.signal.aborted) logger.warn({ err: error, executionId: due.id }, 'a callback could not be made')
    }
  }

  async #try(due: DueCallback, content: CallbackContent): Promise<PostResult> {
    const { config, egress, traces } = this.#context
    const run = { id: due.id, team: due.team, traceparent: content.traceparent }
    const span = traces.callback(run, due.tries)
    const traceparent = span?.traceparent ?? traces.contextOf(run)
    const result = await post({
      url: content.url,
      body: bodyOf(due.id, content),
      // The same for each try of it: by this the receiver knows one that it has had.
      headers: {
        'Idempotency-Key': `${due.id}:${due.sequence}`,
        ...(traceparent !== undefined && { traceparent }),
      },
      egress,
      turn: due.tries - 1,
      timeoutMs: config.callbackTimeoutMs,
      signal: this.#stop.signal,
    })
    span?.end(result.ok ? {} : { failure: 'not_delivered', isFault: true })
    return result
  }

  async #giveUp(due: DueCallback, reason: string): Promise<void> {
    const { pool, logger, signals } = this.#context
    const times = due.tries === 1 ? 'once' : `${due.tries} times`
    const text = `The callback to ${due.origin} was not delivered, tried ${times}: ${reason}`
    await giveUpCallback(pool, due.id, [Date.now() * 1000, LogLevel.WARNING, text])
    logger.info({ executionId: due.id, team: due.team, tries: due.tries, reason }, 'a callback is given up')
    signals.logged.emit([due.id])
  }
}

/** The body of a callback: JSON in UTF-8. The value is JSON text, as in the execution's record. */
export function bodyOf(executionId: string, content: CallbackContent): Buffer {
  const { processId, status, returnValue, explanation } = content
  const finished = status === Status.FINISHED
  const body = {
    executionId,
    processId,
    status: Status[status],
    returnValue: finished ? (returnValue ?? 'null') : undefined,
    error: finished ? undefined : (explanation ?? undefined),
  }
  return Buffer.from(JSON.stringify(body))
}

/** Until the next try, in ms: doubled each time, with up to a quarter less so that many do not come at once. */
export function pauseAfter(tries: number, firstMs: number, random: number): number {
  return Math.round(Math.min(firstMs * 2 ** Math.min(tries - 1, 30), longestPauseMs) * (1 - random / 4))
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'nowhere'
}
