import { Status } from '@automation/contract/execution/v1/execution'
import type { FiringService, StartFiringResponse } from '@automation/contract/execution/v1/firing'
import { asFailure, Failure, type FailureKind } from '@automation/errors'
import { asService, ownContext, type CallContext, type Client } from '@automation/rpc'
import { failPoint, Batcher, KeyedBatcher, type Logger } from '@automation/service'
import type { Tracer } from '@automation/tracing'
import { dueAfter, missedAfterMs, missedTooLong } from '../cron/next-due.ts'
import type { Metrics } from '../metrics.ts'
import { inputMessage, inputOf, whenOf } from '../schedule.ts'
import { firingsStarted, postponeFiring, skipFiring, type OpenFiring, type StartedFiring } from '../store/firings.ts'
import { pausedMeanwhile } from '../store/schedules.ts'
import type { Store } from '../store/store.ts'

const callTimeoutMs = 10_000
/** Longer than a firing ever takes that nothing holds up. */
const promptMs = 5000
const atOnce = 500
const retryMs = { least: 300, most: 5000 }
const lasting = new Set<FailureKind>([
  'invalid_argument',
  'permission_denied',
  'not_found',
  'already_exists',
  'failed_precondition',
  'too_large',
])

interface FirerOptions {
  store: Store
  executions: Client<typeof FiringService>
  metrics: Metrics
  logger: Logger
  tracer?: Tracer
}

/** Decides what becomes of a firing: a run, none, or to be looked at again. */
export class Firer {
  readonly #options: FirerOptions
  /** Notes what has started; answers whether that was new. */
  readonly #started: Batcher<StartedFiring, boolean>
  /** Whether the run before a firing is still active. */
  readonly #active: KeyedBatcher<string, OpenFiring, boolean>

  constructor(options: FirerOptions) {
    this.#options = options
    this.#started = new Batcher(atOnce, (firings) => firingsStarted(options.store, firings))
    this.#active = new KeyedBatcher(
      atOnce,
      ({ team }) => team,
      (team, firings) => this.#activeBefore(team, firings),
    )
  }

  /** A firing that nobody else has. Throws where the database is away; then somebody takes it after its lease. */
  async decide(firing: OpenFiring): Promise<void> {
    try {
      if (firing.givenUp) {
        const why = firing.explanation ?? pausedMeanwhile
        return await this.#giveUp(firing, why, why === pausedMeanwhile ? 'paused' : 'refused')
      }
      if (isMissed(firing)) return await this.#giveUp(firing, missedTooLong, 'missed')
      if (!firing.allowConcurrent && (await this.#isHeldUp(firing))) return
      await this.#start(firing)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (isLasting(error.kind)) await this.#giveUp(firing, error.message, 'refused')
      else await this.#again(firing, error)
    }
  }

  /** One run at a time: the next one waits for it, and whatever comes while one waits is skipped. */
  async #isHeldUp(firing: OpenFiring): Promise<boolean> {
    const { store } = this.#options
    const { behind, behindWaiting, waits, lastExecutionId } = firing
    if (behindWaiting) await this.#giveUp(firing, 'Another firing waits already', 'overlapping')
    else if (behind) {
      const explanation = 'Waits for the firing before it'
      await postponeFiring(store, firing, { afterMs: retryMs.least, explanation, waits })
    } else if (lastExecutionId !== null) {
      if (!(await this.#active.ask(firing))) return false
      const explanation = 'Waits for the end of the run before it'
      await postponeFiring(store, firing, { afterMs: pauseAfter(firing), explanation, waits: true })
    } else return false
    return true
  }

  async #activeBefore(team: string, firings: OpenFiring[]): Promise<boolean[]> {
    const executionIds = firings.flatMap(({ lastExecutionId }) => lastExecutionId ?? [])
    const active = await this.#options.executions.listActive({ executionIds }, contextFor({ team }))
    const ids = new Set(active.executionIds)
    return firings.map(({ lastExecutionId }) => ids.has(lastExecutionId ?? ''))
  }

  async #start(firing: OpenFiring): Promise<void> {
    const { executions, tracer } = this.#options
    const { id, nominalAt, processId, createdBy, initiatedBy } = firing
    // A schedule begins the trace of its run.
    const attributes = { 'automation.team': firing.team, 'automation.schedule.id': id }
    const span = tracer?.start('firing', { kind: 'internal', attributes })
    const request = {
      scheduleId: id,
      nominalTimeMs: BigInt(nominalAt.getTime()),
      processId,
      ...inputMessage(inputOf(firing)),
      createdBy,
      initiatedBy: initiatedBy ?? undefined,
    }
    failPoint('firing-before-start')
    const started = await executions
      .startFiring(request, { ...contextFor(firing), traceparent: span?.traceparent })
      .catch((thrown: unknown) => {
        const { kind, code } = asFailure(thrown)
        // What is gone is its owner's doing; all else is tried again, or was given up.
        span?.end({ failure: code, isFault: kind !== 'not_found' })
        throw thrown
      })
    span?.end()
    failPoint('firing-after-start')
    await this.#note(firing, { ...started, rejection: rejectionOf(started) })
  }

  async #note(firing: OpenFiring, run: { executionId: string; versionId?: string; rejection?: string }) {
    const { id, nominalAt } = firing
    const { executionId, versionId, rejection } = run
    const isFirst = await this.#started.ask({ id, nominalAt, executionId, versionId, rejection })
    if (isFirst) this.#options.metrics.started(firing.waits ? undefined : firing.lateMs / 1000)
  }

  /** Nothing is started for it any more. Where a start may be under way, execution has the last word. */
  async #giveUp(firing: OpenFiring, explanation: string, reason: string): Promise<void> {
    const { executionId, versionId } = firing.asked ? await this.#givenUp(firing) : {}
    if (executionId === undefined) await this.#skip(firing, explanation, reason)
    else await this.#note(firing, { executionId, versionId })
  }

  #givenUp(firing: OpenFiring) {
    const { id, nominalAt } = firing
    const key = { scheduleId: id, nominalTimeMs: BigInt(nominalAt.getTime()) }
    return this.#options.executions.giveUpFiring(key, contextFor(firing))
  }

  async #skip(firing: OpenFiring, explanation: string, reason: string): Promise<void> {
    const { store, metrics, logger } = this.#options
    if (!(await skipFiring(store, firing, explanation))) return
    metrics.skipped(reason)
    logger.info(
      { schedule: firing.id, nominal: firing.nominalAt, team: firing.team, explanation },
      'a firing is skipped',
    )
  }

  async #again(firing: OpenFiring, failure: Failure): Promise<void> {
    const { store, logger } = this.#options
    logger.warn({ err: failure, schedule: firing.id, team: firing.team }, 'a firing could not be started, trying again')
    const { waits } = firing
    const explanation = failure.message
    await postponeFiring(store, firing, { afterMs: pauseAfter(firing), explanation, waits, asked: true })
  }
}

/** What is not fired while the next of its kind, or an hour, has come is not fired any more. */
function isMissed(firing: OpenFiring): boolean {
  const { lateMs, waits, cron, zoneId, nominalAt } = firing
  if (cron === null || waits || lateMs < promptMs) return false
  const next = dueAfter(whenOf(firing), zoneId, nominalAt.getTime())
  return lateMs >= missedAfterMs || (next !== undefined && nominalAt.getTime() + lateMs >= next)
}

/** The longer it has taken, the longer nobody looks. */
function pauseAfter({ lateMs }: OpenFiring): number {
  return Math.min(Math.max(lateMs / 10, retryMs.least), retryMs.most)
}

function contextFor({ team }: Pick<OpenFiring, 'team'>): CallContext {
  return ownContext(asService('scheduler', team), callTimeoutMs)
}

/** Whether what is refused for this is refused again, however often it is asked for. */
export function isLasting(kind: FailureKind): boolean {
  return lasting.has(kind)
}

/** Why a run was REJECTED; undefined for all others. */
export function rejectionOf({ status, explanation }: StartFiringResponse): string | undefined {
  return status === Status.REJECTED ? (explanation ?? 'It was rejected') : undefined
}
