import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { Status, type RunSettings, type WebhookCall } from '@automation/contract/execution/v1/execution'
import { databaseFailure } from '@automation/database'
import { Failure, notFound, stopping } from '@automation/errors'
import type pg from 'pg'
import type { ExecutionConfig } from './config.ts'
import type { Egress } from './egress.ts'
import { newExecutionId } from './execution-id.ts'
import type { ParametersCheck } from './parameters-check.ts'
import { checkComment, checkParameters, checkSettings } from './run-settings.ts'
import { shownRequest } from './shown-request.ts'
import type { Specs } from './specs.ts'
import type { Starts } from './starts.ts'
import { readStatus } from './store/executions.ts'
import type { NewRun } from './store/new-run-columns.ts'
import { readStartKey } from './store/start-keys.ts'
import type { Waiter, Waiters } from './waiters.ts'
import type { WebhookGate } from './webhook-gate.ts'

/** What somebody wants to run, and in whose name. */
export interface Wish {
  team: string
  identifier: string
  tag: string
  parameters: Uint8Array
  comment?: string
  settings?: RunSettings
  webhook?: WebhookCall
  /** JSON text of the request, where a run of a webhook is run again. */
  request?: Uint8Array
  /** Of no account for webhooks: there it is the webhook's user name. */
  createdBy: string
  initiatedBy?: string
  ip?: string
  depth: number
  parentId?: string
  /** The execution that it repeats at somebody's wish. */
  rerunOf?: string
  /** Asked for by the catalog; nobody else starts an install. */
  isInstall?: boolean
  /** Absent scope: the process. A key with a scope of its own is hardly ever used twice. */
  key?: { scope?: string; key: string; bodyHash?: Uint8Array }
}

export interface Accepted {
  id: string
  status: Status.CREATED | Status.REJECTED
  explanation?: string
  /** Nothing was started: the key was known. */
  replayed: boolean
  /** For those who asked for it; to be closed. */
  waiter?: Waiter
}

export interface AdmissionContext {
  pool: pg.Pool
  config: ExecutionConfig
  egress: Egress
  specs: Specs
  gate: WebhookGate
  parametersCheck: ParametersCheck
  starts: Starts
  waiters: Waiters
}

/** Decides whether a wish becomes a run, and makes it one. */
export class Admission {
  readonly #context: AdmissionContext
  #stopped = false

  constructor(context: AdmissionContext) {
    this.#context = context
  }

  /** Nothing new is accepted any more. */
  stop(): void {
    this.#stopped = true
  }

  /** Durable when it returns. With `wait`, the answer has a waiter that misses no end. */
  async accept(wish: Wish, wait = false): Promise<Accepted> {
    if (this.#stopped) throw stopping()
    try {
      return await this.#decide(wish, wait)
    } catch (error) {
      throw databaseFailure(error)
    }
  }

  /** Whether the caller of a webhook may start its process. Failures: those of the gate. */
  async checkWebhook(wish: Wish): Promise<void> {
    if (wish.webhook === undefined) throw notFound('webhook')
    try {
      await this.#permitted(wish)
    } catch (error) {
      throw databaseFailure(error)
    }
  }

  async #decide(wish: Wish, wait: boolean): Promise<Accepted> {
    const spec = await this.#permitted(wish)
    // Asked first, so that an old key still answers when the schema or the settings have changed since.
    const known =
      wish.key === undefined || wish.key.scope !== undefined ? undefined : await this.#replay(wish, spec, wait)
    if (known !== undefined) return known
    const run = await this.#checked(wish, spec)
    const waiter = wait ? this.#context.waiters.open(run.id) : undefined
    try {
      const placed = await this.#start(wish, run)
      if (placed === undefined) return await this.#cameFirst(wish, spec, wait)
      if (placed.status !== Status.REJECTED) return { id: run.id, status: Status.CREATED, replayed: false, waiter }
      waiter?.close()
      return { id: run.id, status: Status.REJECTED, explanation: placed.explanation, replayed: false }
    } catch (error) {
      waiter?.close()
      throw error
    }
  }

  async #permitted(wish: Wish): Promise<RunSpec> {
    const { specs, gate } = this.#context
    const spec = await (wish.webhook === undefined ? specs.resolve(wish) : gate.pass(wish, wish.webhook))
    if (spec.isInstall !== (wish.isInstall ?? false)) throw notFound('process')
    return spec
  }

  async #checked(wish: Wish, spec: RunSpec): Promise<NewRun> {
    const { config, egress, parametersCheck } = this.#context
    const parameters = checkParameters(wish.parameters, config.parametersMaxBytes)
    const settings = checkSettings(wish.settings, config, egress)
    checkComment(wish.comment)
    if (spec.enforcedSchema !== undefined) await parametersCheck.check(spec.enforcedSchema, parameters)
    const { team, comment, initiatedBy, ip, depth, parentId, rerunOf } = wish
    const request = wish.webhook === undefined ? wish.request : shownRequest(wish.webhook, spec.webhook)
    const createdBy = wish.webhook === undefined ? wish.createdBy : (spec.webhook?.username ?? 'webhook')
    const id = newExecutionId()
    const who = { createdBy, initiatedBy, ip, rerunOf }
    return { id, team, spec, parameters, ...settings, comment, request, ...who, depth, parentId }
  }

  #start(wish: Wish, run: NewRun) {
    const { starts } = this.#context
    if (wish.key === undefined) return starts.start(run)
    return starts.startOnce(run, { ...wish.key, scope: scopeOf(wish, run.spec) })
  }

  /** Another call with the same key was faster, or nothing may be started for this caller any more. */
  async #cameFirst(wish: Wish, spec: RunSpec, wait: boolean): Promise<Accepted> {
    const known = await this.#replay(wish, spec, wait)
    if (known !== undefined) return known
    const { parentId } = wish
    const parentRuns = parentId === undefined || (await readStatus(this.#context.pool, parentId)) === Status.RUNNING
    if (parentRuns) throw notFound(wish.webhook === undefined ? 'process' : 'webhook')
    throw new Failure('failed_precondition', 'execution_ended', 'The calling execution has ended')
  }

  async #replay(wish: Wish, spec: RunSpec, wait: boolean): Promise<Accepted | undefined> {
    const { pool, waiters } = this.#context
    const { key, bodyHash } = wish.key!
    const known = await readStartKey(pool, wish.team, scopeOf(wish, spec), key)
    if (known === undefined) return undefined
    if (!sameHash(known.bodyHash, bodyHash))
      throw new Failure(
        'already_exists',
        'idempotency_key_reused',
        'This idempotency key came with another request before',
      )
    const id = known.executionId
    const status = (await readStatus(pool, id)) === Status.REJECTED ? Status.REJECTED : Status.CREATED
    return { id, status, replayed: true, waiter: wait ? waiters.open(id) : undefined }
  }
}

function scopeOf({ key }: Wish, { processId }: RunSpec): string {
  return key?.scope ?? `process ${processId}`
}

function sameHash(known: Buffer | null, given: Uint8Array | undefined): boolean {
  if (known === null || given === undefined) return known === null && given === undefined
  return known.equals(given)
}
