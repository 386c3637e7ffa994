import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { Origin, Status } from '@automation/contract/execution/v1/execution'
import { asFailure, Failure, notFound, stopping, teamMovedCode } from '@automation/errors'
import { readAll } from '@automation/errors/faults'
import type { ExecutionConfig } from '../config.ts'
import type { Egress } from '../react/egress.ts'
import type { ParametersCheck } from './parameters-check.ts'
import {
  checkComment,
  type CheckedSettings,
  checkParameters,
  checkSettings,
  isRefusal,
  refusedInput,
} from './run-input.ts'
import { sourceMarkOf } from './source-mark.ts'
import { checkSpecSize, type Specs } from './specs.ts'
import type { KnownPools } from '../dispatch/known-pools.ts'
import type { RunLimits } from '../run-limits.ts'
import type { Starts } from './starts.ts'
import { readStatus } from '../store/executions.ts'
import type { NewRun } from '../store/new-run-columns.ts'
import { readStartKey, sameHash, startGivenUpCode } from '../store/start-keys.ts'
import type { Waiter, Waiters } from '../end/waiters.ts'
import { shownRequest, type WebhookGate } from './webhook-gate.ts'
import type { RefusedCall, WebhookRefusals } from './webhook-refusals.ts'
import type { StartRequest } from './start-request.ts'
import type { Queries } from '../store/connections.ts'
import { newExecutionId } from '../execution-id.ts'

export interface Accepted {
  id: string
  status: Status.CREATED | Status.REJECTED
  /** What it is a run of, where it is no version the current source; not told of what was replayed. */
  versionId?: string
  explanation?: string
  /** Nothing was started: the key was known. */
  replayed: boolean
  /** For those who asked for it; to be closed. */
  waiter?: Waiter
}

/** Of a caller that waits for the end of what it starts. */
export interface Waiting {
  /** Called before the run may begin, once nothing is known that stands against it; not where it has begun before. */
  beforeStart?(): Promise<void>
}

interface AdmissionContext {
  pool: Queries
  config: ExecutionConfig
  egress: Egress
  specs: Specs
  gate: WebhookGate
  refusals: WebhookRefusals
  parametersCheck: ParametersCheck
  limits: RunLimits
  knownPools: KnownPools
  starts: Starts
  waiters: Waiters
}

/** Decides whether a start request becomes a run, and makes it one. */
export class Admission {
  readonly #context: AdmissionContext
  #accepts: 'all' | 'from runs' | 'nothing' = 'all'

  constructor(context: AdmissionContext) {
    this.#context = context
  }

  /** Nothing new is accepted any more, or only what runs ask for. */
  stop(accepts: 'from runs' | 'nothing' = 'nothing'): void {
    this.#accepts = accepts
  }

  /** Durable when it returns. For who waits, the answer has a waiter that misses no end. */
  async accept(request: StartRequest, waiting?: Waiting): Promise<Accepted> {
    if (this.#accepts !== 'all' && (this.#accepts === 'nothing' || request.parentId === undefined)) throw stopping()
    try {
      return await this.#admit(request, waiting)
    } catch (error) {
      if (!request.isUnattended || !(error instanceof Failure) || error.kind !== 'not_found') throw error
      // One that nobody attends is known by its key even when its process or version is gone.
      const begun = await this.#replay(request, request.key!.scope!, waiting)
      if (begun !== undefined) return begun
      if (!request.needsNoVersion || error.code !== 'version_not_found') throw error
      return await this.#rejectWithoutVersion(request)
    }
  }

  /**
   * What runs of this request would be runs of, where they can be started; a schema is not asked. Failures: those of
   * ResolveRun, and of the request's fields.
   */
  async check(request: StartRequest): Promise<RunSpec> {
    const spec = await this.#permitted(request)
    await this.#context.limits.requireActive(request.team)
    this.#checkInput(request)
    return spec
  }

  /** Whether the caller of a webhook may start its process. Failures: those of the gate. */
  async checkWebhook(request: StartRequest): Promise<void> {
    if (request.webhook === undefined) throw notFound('webhook')
    await this.#permitted(request)
    await this.#context.limits.requireActive(request.team)
  }

  /** What has been refused before a start was asked for. It is forgotten where the team has no such process. */
  async noteRefusal(team: string, identifier: string, call: RefusedCall, failure: Failure): Promise<void> {
    const { specs, refusals } = this.#context
    const name = { team, identifier, tag: '' }
    const spec = await specs.resolve(name)
    specs.keep(name, spec)
    refusals.note({ team, processId: spec.processId }, call, failure)
  }

  /** Its record is one of the process's current source, which it would not have run. */
  async #rejectWithoutVersion(request: StartRequest): Promise<Accepted> {
    const spec = await this.#permitted({ ...request, tag: '' })
    const reason = `The process has no version or alias "${request.tag}" any more`
    const run = newRun(request, spec, refusedInput(request, this.#context.config, this.#poolsOf(request)))
    const outcome = await this.#start(request, run, reason)
    if (outcome === undefined) return this.#cameFirst(request, spec, undefined)
    return { id: run.id, status: Status.REJECTED, explanation: outcome.explanation, replayed: false }
  }

  async #admit(request: StartRequest, waiting: Waiting | undefined): Promise<Accepted> {
    const spec = await this.#permitted(request)
    try {
      return await this.#admitRunOf(spec, request, waiting)
    } catch (error) {
      const { team, webhook } = request
      const failure = asFailure(error)
      if (webhook !== undefined && failure.code !== teamMovedCode)
        this.#context.refusals.note({ team, processId: spec.processId }, webhook, failure)
      throw error
    }
  }

  async #admitRunOf(spec: RunSpec, request: StartRequest, waiting: Waiting | undefined): Promise<Accepted> {
    // Asked first, so that an old key still answers when the schema or the settings have changed since.
    const known =
      request.key === undefined || request.key.scope !== undefined
        ? undefined
        : await this.#replay(request, scopeOf(request, spec), waiting)
    if (known !== undefined) {
      this.#context.specs.keep(request, spec)
      return known
    }
    const begun = await this.#begunBefore(request, spec, waiting)
    if (begun !== undefined) return begun
    const { run, refusal } = await this.#checkedOrRefused(request, spec)
    await waiting?.beforeStart?.()
    const waiter = waiting && this.#context.waiters.open(run.id)
    try {
      const outcome = await this.#start(request, run, refusal)
      if (outcome === undefined) {
        waiter?.close()
        return await this.#cameFirst(request, spec, waiting)
      }
      const { id } = run
      const { versionId } = spec
      if (outcome.status !== Status.REJECTED) {
        this.#context.specs.keep(request, spec)
        return { id, status: Status.CREATED, versionId, replayed: false, waiter }
      }
      waiter?.close()
      return { id, status: Status.REJECTED, versionId, explanation: outcome.explanation, replayed: false }
    } catch (error) {
      waiter?.close()
      throw error
    }
  }

  /**
   * Where nothing new may run for the team: what was started before under the key, as those that run go on. Failures: those
   * of requireActive.
   */
  async #begunBefore(
    request: StartRequest,
    spec: RunSpec,
    waiting: Waiting | undefined,
  ): Promise<Accepted | undefined> {
    try {
      await this.#context.limits.requireActive(request.team)
      return undefined
    } catch (error) {
      const begun = request.key && (await this.#replay(request, scopeOf(request, spec), waiting))
      if (begun === undefined) throw error
      return begun
    }
  }

  async #permitted(request: StartRequest): Promise<RunSpec> {
    const { gate } = this.#context
    const spec = await (request.webhook === undefined ? this.#specOf(request) : gate.pass(request, request.webhook))
    if (spec.isInstall !== (request.isInstall ?? false)) throw notFound('process')
    return spec
  }

  #specOf(request: StartRequest): Promise<RunSpec> {
    const { specs } = this.#context
    const { rerunOf, traceparent, trial = false } = request
    return rerunOf === undefined && !trial
      ? specs.resolve(request, traceparent)
      : specs.resolveAgain(request, traceparent)
  }

  /** With a refusal where a run that nobody attends can't be started: the run is its record then. */
  async #checkedOrRefused(request: StartRequest, spec: RunSpec): Promise<{ run: NewRun; refusal?: string }> {
    try {
      const input = this.#checkInput(request)
      checkSpecSize(spec, this.#context.config.runSpecMaxBytes)
      const { parametersCheck } = this.#context
      const parameters = await parametersCheck.forRun(spec, input.parameters, request)
      return { run: newRun(request, spec, { ...input, parameters }) }
    } catch (error) {
      if (!request.isUnattended || !isRefusal(error)) throw error
      const limits = { ...this.#context.config, parametersMaxBytes: this.#parametersMaxBytes(request) }
      return {
        run: newRun(request, spec, refusedInput(request, limits, this.#poolsOf(request))),
        refusal: error.message,
      }
    }
  }

  #checkInput(request: StartRequest): RunInput {
    const { parameters, settings, comment } = request
    const { config, egress } = this.#context
    const input = readAll({
      parameters: () => checkParameters(parameters, this.#parametersMaxBytes(request)),
      settings: () => checkSettings(settings, config, this.#poolsOf(request), egress),
      comment: () => checkComment(comment),
    })
    return { ...input.settings, parameters: input.parameters, comment: input.comment }
  }

  #poolsOf({ team }: StartRequest): readonly string[] {
    return this.#context.knownPools.of(team)
  }

  #parametersMaxBytes({ hasOwnParameters }: StartRequest): number {
    return hasOwnParameters ? Infinity : this.#context.config.parametersMaxBytes
  }

  #start(request: StartRequest, run: NewRun, refusal: string | undefined) {
    const { starts } = this.#context
    if (request.key === undefined) return starts.start(run)
    const key = { ...request.key, scope: scopeOf(request, run.spec) }
    return refusal === undefined ? starts.startOnce(run, key) : starts.rejectOnce(run, key, refusal)
  }

  /** Another call with the same key was faster, or nothing may be started for this caller any more. */
  async #cameFirst(request: StartRequest, spec: RunSpec, waiting: Waiting | undefined): Promise<Accepted> {
    const known = await this.#replay(request, scopeOf(request, spec), waiting)
    if (known !== undefined) return known
    const { parentId } = request
    const parentRuns = parentId === undefined || (await readStatus(this.#context.pool, parentId)) === Status.RUNNING
    if (parentRuns) throw notFound(request.webhook === undefined ? 'process' : 'webhook')
    throw new Failure('failed_precondition', 'execution_ended', 'The calling execution has ended')
  }

  async #replay(request: StartRequest, scope: string, waiting: Waiting | undefined): Promise<Accepted | undefined> {
    const { pool, waiters } = this.#context
    const { key, bodyHash } = request.key!
    const known = await readStartKey(pool, request.team, scope, key)
    if (known === undefined) return undefined
    if (!sameHash(known.bodyHash, bodyHash))
      throw new Failure(
        'already_exists',
        'idempotency_key_reused',
        'This idempotency key came with another request before',
      )
    const id = known.executionId
    if (id === null) throw new Failure('failed_precondition', startGivenUpCode, 'Its start was given up before')
    const status = (await readStatus(pool, id)) === Status.REJECTED ? Status.REJECTED : Status.CREATED
    return { id, status, replayed: true, waiter: waiting && waiters.open(id) }
  }
}

/** Whoever may call a webhook or has the link of a form takes no key of those that the team itself uses. */
function scopeOf({ key, origin }: StartRequest, { processId }: RunSpec): string {
  const way = origin === Origin.WEBHOOK || origin === Origin.FORM ? `${Origin[origin].toLowerCase()} of ` : ''
  return key?.scope ?? `${way}process ${processId}`
}

/** What a run gets of its start request, checked. */
type RunInput = CheckedSettings & Pick<NewRun, 'parameters' | 'comment'>

/** The run of a start request, with an id of its own. */
function newRun(request: StartRequest, spec: RunSpec, input: RunInput): NewRun {
  const { team, initiatedBy, ip, depth, parentId, scheduleId, rerunOf, traceparent, origin, trial } = request
  const { webhook } = request
  const shown = webhook === undefined ? request.request : shownRequest(webhook, spec.webhook)
  const createdBy = webhook === undefined ? request.createdBy : (spec.webhook?.username ?? 'webhook')
  const id = newExecutionId()
  const tag = request.isInstall ? '' : (request.shownTag ?? request.tag)
  const { requestReceivedAt } = request
  const sourceMark = sourceMarkOf(spec)
  const who = { createdBy, initiatedBy, ip, rerunOf, requestReceivedAt, sourceMark, origin, trial: trial ?? false, tag }
  // A gateway of the release before tells nothing of it.
  const delivery = webhook?.method
    ? {
        method: webhook.method,
        bytes: Number(webhook.bodyBytes),
        atOnce: webhook.answeredAtOnce,
      }
    : undefined
  return { id, team, spec, ...input, request: shown, delivery, ...who, depth, parentId, scheduleId, traceparent }
}
