import type { ExecutionService } from '@automation/contract/execution/v1/execution'
import type { Failure } from '@automation/errors'
import { asService, ownContext, type Client } from '@automation/rpc'
import type { Logger } from '@automation/service'
import { timestampNow } from '@bufbuild/protobuf/wkt'
import type { Exchange } from '../http/exchange.ts'
import { textOf } from '../http/problem.ts'
import { knownBytes, type WebhookTarget } from './webhook-call.ts'

const WINDOW_MS = 60_000
/** Told a minute: of a webhook, and of all. */
const MOST_OF_ONE = 100
const MOST = 1000
const MOST_AT_ONCE = 8

/**
 * Tells execution of calls that are refused before it is asked, for the lists of deliveries. Nobody waits for it; what is
 * more than a flood may cost is left out, and so is what does not reach execution.
 */
export class RefusalNotes {
  readonly #executions: Client<typeof ExecutionService>
  readonly #logger: Logger
  readonly #timeoutMs: number
  readonly #counts = new Map<string, number>()
  #count = 0
  #atOnce = 0
  #windowEndsMs = 0

  constructor(executions: Client<typeof ExecutionService>, logger: Logger, timeoutMs: number) {
    this.#executions = executions
    this.#logger = logger
    this.#timeoutMs = timeoutMs
  }

  note(target: WebhookTarget, exchange: Exchange, failure: Failure): void {
    if (!this.#takes(target)) return
    const { kind, code } = failure
    const request = {
      identifier: target.identifier,
      method: exchange.incoming.method ?? '',
      bodyBytes: knownBytes(exchange),
      refusal: { kind, code, reason: textOf(failure) },
      refusedAt: timestampNow(),
    }
    this.#atOnce += 1
    this.#executions
      .noteWebhookRefusal(request, ownContext(asService('gateway', target.team), this.#timeoutMs))
      // Mostly of a process that there is not.
      .catch((error: unknown) => this.#logger.debug({ err: error, team: target.team }, 'a refused call was not kept'))
      .finally(() => {
        this.#atOnce -= 1
      })
  }

  #takes({ team, identifier }: WebhookTarget): boolean {
    const nowMs = performance.now()
    if (nowMs >= this.#windowEndsMs) {
      this.#counts.clear()
      this.#count = 0
      this.#windowEndsMs = nowMs + WINDOW_MS
    }
    const name = `${team} ${identifier}`
    const ofOne = this.#counts.get(name) ?? 0
    if (ofOne >= MOST_OF_ONE || this.#count >= MOST || this.#atOnce >= MOST_AT_ONCE) return false
    this.#counts.set(name, ofOne + 1)
    this.#count += 1
    return true
  }
}
