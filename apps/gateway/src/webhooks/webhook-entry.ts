import { ExecutionService, LogLevel, type Outcome } from '@automation/contract/execution/v1/execution'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { asFailure, Failure, notFound } from '@automation/errors'
import type { CallContext, Client, Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type { CallLimits } from '../auth/call-limits.ts'
import type { TeamAddresses } from '../auth/team-addresses.ts'
import type { GatewayConfig } from '../config.ts'
import { type Answer, type AnswerHeaders, type Exchange, send } from '../http/exchange.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import { addressOf, callContext, type ClientAddress, headerText } from '../http/caller.ts'
import { problemAnswer } from '../http/problem.ts'
import { methodNotAllowed } from '../http/refusals.ts'
import type { StartRequest } from '../resources/executions/input.ts'
import { returnedText, SyncRuns } from '../resources/executions/sync-runs.ts'
import { withFaultsAt } from '../rest/rest-api.ts'
import { publicAddress, realmOf, WebhookHeaderRules, type PublicAddress } from './answer-headers.ts'
import { withFiles } from './multipart.ts'
import { RefusalNotes } from './refusal-notes.ts'
import {
  type ReadWebhookCall,
  type WebhookCall,
  webhookCallReader,
  webhookHeaders,
  type WebhookTarget,
} from './webhook-call.ts'
import { webhookAnswer } from './webhook-answer.ts'

// In UTF-8 at most 48 KiB; lists of runs leave out what is larger than 64.
const LISTED_CHARACTERS = 16_384

// Lines of a log about one answer.
const MAX_LINES = 20
const MAX_LINE_CHARACTERS = 1024

/** How soon the calls of a suspended team may come again. */
const suspendedRetryS = 60
const ALLOW = 'GET, POST, OPTIONS'

interface WebhookDependencies {
  config: GatewayConfig
  neighbours: Neighbours
  clientAddress: ClientAddress
  budget: BodyBudget
  calls: CallLimits
  teamAddresses: Pick<TeamAddresses, 'isGone'>
  logger: Logger
  /** Is told of every failure that a caller is answered with. */
  report: (failure: Failure, exchange: Exchange) => void
}

/**
 * The webhook entry: starts a process from a plain HTTP request. It stands before the router of the REST interface and
 * works on Node's own request and response, because every millisecond here is one of each call.
 */
export class WebhookEntry {
  readonly #dependencies: WebhookDependencies
  readonly #executions: Client<typeof ExecutionService>
  readonly #syncRuns: SyncRuns
  readonly #storage: Client<typeof StorageService>
  readonly #read: ReadWebhookCall
  readonly #initiatedByHeader: string
  readonly #notes: RefusalNotes
  /** Refusals by execution, which keeps them itself. */
  readonly #known = new WeakSet<Failure>()
  readonly #idHeader: string
  /** Where callers give what execution names by its place in a run's input. */
  readonly #headerOf: Readonly<Record<string, string>>
  readonly #reserved: string
  readonly #address: PublicAddress

  constructor(dependencies: WebhookDependencies) {
    this.#dependencies = dependencies
    const { config, neighbours } = dependencies
    const names = webhookHeaders(config.headerPrefix)
    this.#executions = neighbours.client(ExecutionService)
    this.#syncRuns = new SyncRuns(neighbours, config.syncWaitMaxMs)
    this.#storage = neighbours.client(StorageService)
    this.#read = webhookCallReader({ maxBytes: config.bodyMaxBytes, budget: dependencies.budget }, names)
    this.#notes = new RefusalNotes(this.#executions, dependencies.logger, config.callTimeoutMs)
    this.#idHeader = names.executionId
    this.#initiatedByHeader = names.initiatedBy
    this.#headerOf = {
      '/settings/agentPoolSlug': `/${config.headerPrefix}Agent-Pool`,
      '/comment': `/${config.headerPrefix}Comment`,
    }
    this.#reserved = names.executionId.toLowerCase()
    this.#address = publicAddress(config.publicUrl)
  }

  /** Answers one request; a failure is an answer too. */
  async handle(exchange: Exchange, target: WebhookTarget | 'nothing'): Promise<void> {
    const answer = await this.answer(exchange, target)
    const { vary } = answer.headers
    // Caches must go by that of a process and by the gateway's own.
    if (vary !== undefined) {
      exchange.outgoing.appendHeader('Vary', vary)
      delete answer.headers['vary']
    }
    send(exchange.outgoing, answer)
  }

  /** What one request is answered, beside headers that are set already. */
  async answer(exchange: Exchange, target: WebhookTarget | 'nothing'): Promise<Answer> {
    exchange.route = '/api/{team}/webhooks/{slug}'
    let answer: Answer
    try {
      answer = await this.#decided(exchange, target)
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (target !== 'nothing' && failure.executionId === undefined && !this.#known.has(failure))
        this.#notes.note(target, exchange, failure)
      answer = this.#refusal(this.#forCaller(failure, exchange), exchange, target)
    }
    const { headers } = answer
    headers['X-Request-Id'] = exchange.requestId
    headers['X-Content-Type-Options'] = 'nosniff'
    if (headers['content-security-policy'] === undefined && !exchange.isTeamHost)
      headers['Content-Security-Policy'] = 'sandbox'
    return answer
  }

  /** Who calls a webhook is no member of the team: the call may come again, and the operator's words stay inside. */
  #forCaller(failure: Failure, { team }: Exchange): Failure {
    if (failure.code !== 'team_suspended') return failure
    // A team that is being removed is suspended, too.
    if (this.#dependencies.teamAddresses.isGone(team)) return notFound('webhook')
    const text = 'The team takes no calls at present, try again later'
    return new Failure('unavailable', 'team_suspended', text, { cause: failure, retryAfterS: suspendedRetryS })
  }

  #refusal(failure: Failure, exchange: Exchange, target: WebhookTarget | 'nothing'): Answer {
    this.#dependencies.report(failure, exchange)
    const { requestId, path } = exchange
    const headers: AnswerHeaders = failure.code === 'method_not_allowed' ? { Allow: ALLOW } : {}
    const occasion = { requestId, path, executionIdHeader: this.#idHeader, realm: realmOf(target) }
    return problemAnswer(failure, occasion, headers)
  }

  async #decided(exchange: Exchange, target: WebhookTarget | 'nothing'): Promise<Answer> {
    const { method = '' } = exchange.incoming
    if (method === 'OPTIONS') return { status: 204, headers: { Allow: ALLOW }, body: '' }
    if (method !== 'POST' && method !== 'GET') throw methodNotAllowed(method, ALLOW)
    if (target === 'nothing') throw notFound('webhook')
    exchange.team = target.team
    this.#dependencies.calls.countOpen(target.team, performance.now())
    const call = await this.#read(exchange, target.identifier, (start) => this.#permitted(exchange, start))
    const begin = () => (call.options.isAsync ? this.#start(exchange, call) : this.#run(exchange, call, target))
    return call.files.length === 0 ? await begin() : await this.#withFiles(exchange, call, begin)
  }

  /** What execution answers. */
  async #asked<T>(call: Promise<T>): Promise<T> {
    try {
      return await withFaultsAt(call, (path) => this.#headerOf[path] ?? path)
    } catch (thrown) {
      const failure = asFailure(thrown)
      this.#known.add(failure)
      throw failure
    }
  }

  /** Fails where this caller may not start the process. */
  async #permitted(exchange: Exchange, start: StartRequest): Promise<void> {
    const context = this.#context(exchange, this.#dependencies.config.callTimeoutMs)
    await this.#asked(exchange.settle(this.#executions.checkWebhook(start, context)))
  }

  /** Only for who may start the process; the files are there when it starts. */
  async #withFiles(
    exchange: Exchange,
    { start: { identifier, tag, webhook }, files }: WebhookCall,
    start: () => Promise<Answer>,
  ): Promise<Answer> {
    await this.#permitted(exchange, { identifier, tag, webhook })
    const context = () => this.#context(exchange, this.#dependencies.config.callTimeoutMs)
    const report = (failure: Failure) => this.#dependencies.report(failure, exchange)
    const isReplay = () => exchange.outgoing.hasHeader('Idempotency-Replayed')
    return await withFiles(this.#storage, files, context, { start, isReplay, report })
  }

  async #start(exchange: Exchange, { options, start }: WebhookCall): Promise<Answer> {
    const { callTimeoutMs, publicUrl } = this.#dependencies.config
    const context = this.#context(exchange, callTimeoutMs)
    const { executionId, replayed } = await this.#asked(
      exchange.settle(this.#executions.startExecution(start, context)),
    )
    exchange.executionId = executionId
    const text = options.asyncResponse
    const headers: AnswerHeaders = {
      'Content-Type': text === undefined ? 'application/json' : 'text/plain; charset=utf-8',
      Location: `${publicUrl}/api/${exchange.team}/rest/executions/${executionId}`,
      [this.#idHeader]: executionId,
    }
    if (replayed) exchange.outgoing.setHeader('Idempotency-Replayed', 'true')
    return { status: 201, headers, body: text ?? `{"id":"${executionId}","status":"CREATED","data":null}` }
  }

  async #run(exchange: Exchange, { start }: WebhookCall, target: WebhookTarget): Promise<Answer> {
    const context = this.#context(exchange, this.#syncRuns.timeoutMs)
    const outcome = await this.#asked(exchange.settle(this.#syncRuns.run(start, context)))
    exchange.executionId = outcome.executionId
    // On refusals of this call as well.
    if (outcome.replayed) exchange.outgoing.setHeader('Idempotency-Replayed', 'true')
    const rules = () => new WebhookHeaderRules(exchange, target, this.#address, this.#reserved)
    return await this.#answerOf(exchange, outcome, rules)
  }

  /** An answer waits for what is told of it, but no longer than for any call. */
  async #answerOf(exchange: Exchange, outcome: Outcome, rules: () => WebhookHeaderRules): Promise<Answer> {
    const { executionId } = outcome
    const returned = returnedText(outcome, { mayRead: false })
    const made = webhookAnswer(returned, rules)
    const status = 'fault' in made ? 500 : made.answer.status
    const isNoted = status !== 200 && (outcome.transient || returned.length > LISTED_CHARACTERS)
    const told = 'fault' in made ? [made.fault] : made.warnings
    // A replay is no delivery of its own, and would only repeat the lines.
    if (!outcome.replayed && (isNoted || told.length > 0)) {
      const context = this.#context(exchange, this.#dependencies.config.callTimeoutMs)
      const level = 'fault' in made ? LogLevel.ERROR : LogLevel.WARNING
      await Promise.all([
        isNoted && this.#noteStatus(executionId, status, context),
        told.length > 0 && this.#log(executionId, level, told, context),
      ])
    }
    if ('fault' in made) {
      const text = 'The process returned a response that can not be sent'
      throw new Failure('failed_precondition', 'webhook_answer_invalid', text, { executionId })
    }
    delete made.answer.headers['x-content-type-options']
    delete made.answer.headers['idempotency-replayed']
    made.answer.headers[this.#idHeader] = executionId
    return made.answer
  }

  /** Tells the status for the list of deliveries. */
  async #noteStatus(executionId: string, status: number, context: CallContext): Promise<void> {
    try {
      await this.#executions.noteWebhookAnswer({ executionId, status }, context)
    } catch (error) {
      this.#dependencies.logger.warn({ err: error, executionId }, 'the status of an answer could not be stored')
    }
  }

  /** Adds lines to the execution's log. What a process returns decides how many. */
  async #log(executionId: string, level: LogLevel, messages: string[], context: CallContext): Promise<void> {
    const lines = messages.slice(0, MAX_LINES).map((message) => message.slice(0, MAX_LINE_CHARACTERS).toWellFormed())
    if (messages.length > MAX_LINES) lines.push(`And ${messages.length - MAX_LINES} more of this kind`)
    const [message, ...further] = lines
    try {
      await this.#executions.appendLogs({ executionId, level, message, further }, context)
    } catch (error) {
      this.#dependencies.logger.warn({ err: error, executionId }, 'lines for an execution could not be stored')
    }
  }

  #context(exchange: Exchange, timeoutMs: number): CallContext {
    const initiatedBy = headerText(exchange, this.#initiatedByHeader)
    const principal = {
      role: 'user' as const,
      team: exchange.team,
      subject: 'webhook',
      name: 'webhook',
      ...(initiatedBy !== undefined && { initiatedBy }),
      ip: addressOf(exchange, this.#dependencies.clientAddress),
    }
    return callContext(exchange, principal, timeoutMs)
  }
}
