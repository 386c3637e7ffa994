import type { RunSpec, RunWebhook } from '@automation/contract/catalog/v1/resolve'
import type { WebhookCall } from '@automation/contract/execution/v1/execution'
import { asFailure, Failure, invalid, notFound } from '@automation/errors'
import { CredentialsGate } from '@automation/passwords'
import { AddressList } from '@automation/service'
import type { SpecName, Specs } from './specs.ts'
import type { WebhookRefusals } from './webhook-refusals.ts'

/** By whom, and in which trace. */
type AskedSpec = SpecName & { ip?: string; traceparent?: string }

/** Who may start a process over its webhook. */
export class WebhookGate {
  readonly #specs: Specs
  readonly #refusals: WebhookRefusals
  readonly #credentials = new CredentialsGate(refused)
  readonly #addresses = new WeakMap<RunWebhook, AddressList>()

  constructor(specs: Specs, refusals: WebhookRefusals) {
    this.#specs = specs
    this.#refusals = refusals
  }

  /**
   * The spec that was asked for. Failures: webhook_not_found, the same for an unknown, a foreign and a disabled one, and for
   * one that may not be called from this address; webhook_credentials; too_many_attempts; and only behind these
   * version_not_found. Whoever is refused at a process that there is is noted.
   */
  async pass(name: AskedSpec, call: WebhookCall): Promise<RunSpec> {
    // Whether a version is there is told to nobody who may not start it, and none is read for them.
    const known = this.#specs.has(name) ? await this.#found(name) : undefined
    const isWanted = known !== undefined || name.tag === ''
    const seen = isWanted ? name : { ...name, tag: '' }
    const spec = known ?? (await this.#found(seen))
    if (spec === undefined) throw notFound('webhook')
    const refuse = (failure: Failure, reason?: string): never => {
      // Else each call that anybody sends would have the whole of it read.
      this.#specs.keep(seen, spec)
      this.#refusals.note({ team: name.team, processId: spec.processId }, call, failure, reason)
      throw failure
    }
    if (!spec.webhook?.enabled) return refuse(notFound('webhook'), 'The webhook is not enabled')
    if (!this.#isAllowed(spec.webhook, name.ip))
      return refuse(notFound('webhook'), `The address ${name.ip} is not among the allowed ones`)
    if (hasCredentials(spec.webhook)) {
      const target = { id: spec.processId, team: name.team }
      const checked = this.#credentials.check(target, spec.webhook, call, name.ip ?? '')
      await checked.catch((error: unknown) => refuse(asFailure(error), wordsFor(error, call)))
    }
    if (isWanted) return spec
    // Else it would be read beside the version for each call that is refused for what it has.
    this.#specs.keep(seen, spec)
    return this.#specs.resolve(name, name.traceparent).catch((error: unknown) => refuse(missing(error)))
  }

  close(): Promise<void> {
    return this.#credentials.close()
  }

  #isAllowed(webhook: RunWebhook, ip = ''): boolean {
    if (webhook.allowedAddresses.length === 0) return true
    const list = this.#addresses.get(webhook) ?? new AddressList(webhook.allowedAddresses)
    this.#addresses.set(webhook, list)
    return list.has(ip)
  }

  /** Undefined where nothing has this name. */
  async #found(name: AskedSpec): Promise<RunSpec | undefined> {
    const found = this.#specs.resolve(name, name.traceparent)
    return found.catch((error: unknown) => void missing(error))
  }
}

function refused(): Failure {
  return new Failure('unauthenticated', 'webhook_credentials', 'The webhook wants a user name and a password')
}

/** What the team is told of refused credentials; undefined where it is what the caller was told. */
function wordsFor(error: unknown, { username, password }: WebhookCall): string | undefined {
  if (!(error instanceof Failure) || error.code !== 'webhook_credentials') return undefined
  return username === undefined || password === undefined
    ? 'The call had no user name and password'
    : 'The user name or the password was wrong'
}

/** What was asked for is not there; throws any other fault. */
function missing(error: unknown): Failure {
  if (!(error instanceof Failure) || error.kind !== 'not_found') throw error
  return error.code === 'version_not_found' ? error : notFound('webhook')
}

/**
 * The request (JSON text) as process code sees it: with its `authorization` header where the webhook has no credentials,
 * for then the header is meant for the process.
 */
export function shownRequest({ request, authorization }: WebhookCall, webhook: RunWebhook | undefined): Uint8Array {
  if (authorization === undefined || request.length === 0 || hasCredentials(webhook)) return request
  if (!opening.equals(request.subarray(0, opening.length)))
    throw invalid('/webhook/request', 'The request of a webhook must begin with its headers')
  const rest = request.subarray(opening.length)
  const isOnly = rest[0] === '}'.charCodeAt(0)
  const header = `"authorization":${JSON.stringify(authorization)}${isOnly ? '' : ','}`
  return Buffer.concat([opening, Buffer.from(header), rest])
}

/** A request has its body behind it, which may be too large to be read here. */
const opening = Buffer.from('{"headers":{')

/** Whether only callers with a user name and a password may pass. */
function hasCredentials(webhook: RunWebhook | undefined): boolean {
  return webhook?.username !== undefined || webhook?.passwordHash !== undefined
}
