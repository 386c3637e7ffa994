import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { RunSpec, RunWebhook } from '@automation/contract/catalog/v1/resolve'
import type { WebhookCall } from '@automation/contract/execution/v1/execution'
import { Failure, notFound, unavailable } from '@automation/errors'
import { DeadlineError, DeadlineWorker } from '@automation/service'
import { Attempts } from './attempts.ts'
import { hasCredentials } from './shown-request.ts'
import type { SpecName, Specs } from './specs.ts'

const room = 10_000

/** Who may start a process over its webhook. Passwords once found right are remembered as keyed digests. */
export class WebhookGate {
  readonly #specs: Specs
  readonly #attempts = new Attempts()
  readonly #worker = new DeadlineWorker(new URL('./workers/password-thread.ts', import.meta.url))
  readonly #secret = randomBytes(32)
  readonly #right = new Set<string>()
  /** Checks on their way, by who tries what: the same at the same time is checked once. */
  readonly #checking = new Map<string, Promise<boolean>>()

  constructor(specs: Specs) {
    this.#specs = specs
  }

  /**
   * The spec that was asked for. Failures: webhook_not_found, the same for an unknown, a foreign and a disabled one;
   * webhook_credentials; too_many_attempts; and only behind these version_not_found.
   */
  async pass(name: SpecName & { ip?: string }, call: WebhookCall): Promise<RunSpec> {
    const asked = await this.#specs.resolve(name).catch((error: unknown) => missing(error))
    // Whether a version is there is told to nobody who may not start it.
    const spec = asked instanceof Failure ? await this.#current(name) : asked
    if (!spec.webhook?.enabled) throw notFound('webhook')
    if (hasCredentials(spec.webhook)) await this.#check(spec.processId, spec.webhook, call, name.ip ?? '')
    if (asked instanceof Failure) throw asked
    return asked
  }

  close(): Promise<void> {
    return this.#worker.close()
  }

  async #current({ team, identifier }: SpecName): Promise<RunSpec> {
    const spec = await this.#specs.resolve({ team, identifier, tag: '' }).catch((error: unknown) => missing(error))
    if (spec instanceof Failure) throw notFound('webhook')
    return spec
  }

  async #check(processId: string, webhook: RunWebhook, call: WebhookCall, address: string): Promise<void> {
    const { username, passwordHash } = webhook
    const key = JSON.stringify([address, processId, username, passwordHash, call.username, call.password])
    const same = this.#checking.get(key)
    const checking =
      same ?? this.#countedCheck(processId, webhook, call, address).finally(() => this.#checking.delete(key))
    this.#checking.set(key, checking)
    if (await checking) return
    // The one that was checked has counted itself.
    if (same !== undefined && call.username !== undefined) this.#attempts.begin(address, processId)
    throw new Failure('unauthenticated', 'webhook_credentials', 'The webhook wants a user name and a password')
  }

  /** While it is checked it counts as a failure, so that no more guesses are on their way than may fail. */
  async #countedCheck(processId: string, webhook: RunWebhook, call: WebhookCall, address: string): Promise<boolean> {
    const attempt = this.#attempts.begin(address, processId)
    let failed = false
    try {
      const password = await this.#isRight(processId, webhook.passwordHash ?? '', call.password ?? '')
      const right = password && sameText(webhook.username ?? '', call.username ?? '')
      // A call without credentials asks which are wanted; that is no guess.
      failed = !right && call.username !== undefined
      return right
    } finally {
      if (!failed) attempt.undo()
    }
  }

  async #isRight(processId: string, hash: string, password: string): Promise<boolean> {
    if (hash === '') return password === ''
    const digest = createHmac('sha256', this.#secret)
      .update(JSON.stringify([processId, hash, password]))
      .digest('base64')
    if (this.#right.has(digest)) return true
    if (password === '' || !(await this.#compare(password, hash))) return false
    this.#right.add(digest)
    if (this.#right.size > room) this.#right.delete(this.#right.values().next().value!)
    return true
  }

  async #compare(password: string, hash: string): Promise<boolean> {
    const cost = Number(/^\$2[abxy]?\$(\d\d)\$/.exec(hash)?.[1] ?? 0)
    try {
      return (await this.#worker.run({ password, hash }, cost > 10 ? 3000 : 200)) as boolean
    } catch (error) {
      if (error instanceof DeadlineError)
        throw unavailable('The credentials could not be checked in time, try again', error)
      throw error
    }
  }
}

function missing(error: unknown): Failure {
  if (error instanceof Failure && error.kind === 'not_found') return error
  throw error
}

function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
