import type { ExecutionService } from '@automation/contract/execution/v1/execution'
import type { Failure } from '@automation/errors'
import { textOf } from '@automation/errors/failure-text'
import { asService, ownContext, type Client } from '@automation/rpc'
import type { Logger } from '@automation/service'
import { timestampNow } from '@bufbuild/protobuf/wkt'
import { LRUCache } from 'lru-cache'
import type { Exchange } from '../http/exchange.ts'
import { knownBytes, type WebhookTarget } from './webhook-call.ts'

const WINDOW_MS = 60_000
/** Told a minute: of a webhook, of a team, and of all. */
const MOST_OF_ONE = 100
const MOST_OF_TEAM = 300
const MOST = 1000
const MOST_AT_ONCE = 8
const MOST_KNOWN = 10_000

/** Of webhooks that execution has kept a note of; strangers make up any number of others. */
type Group = 'known' | 'other'

/**
 * Tells execution of calls that are refused before it is asked, for the lists of deliveries. Nobody waits for it; what is
 * more than a flood may cost is left out, and so is what does not reach execution. Webhooks that are known to be there count
 * apart from others.
 */
export class RefusalNotes {
  readonly #executions: Client<typeof ExecutionService>
  readonly #logger: Logger
  readonly #timeoutMs: number
  readonly #counts = new Map<string, number>()
  readonly #known = new LRUCache<string, true>({ max: MOST_KNOWN })
  readonly #atOnce: Record<Group, number> = { known: 0, other: 0 }
  #windowEndsMs = 0

  constructor(executions: Client<typeof ExecutionService>, logger: Logger, timeoutMs: number) {
    this.#executions = executions
    this.#logger = logger
    this.#timeoutMs = timeoutMs
  }

  note(target: WebhookTarget, exchange: Exchange, failure: Failure): void {
    const name = `${target.team} ${target.identifier}`
    const group = this.#known.has(name) ? 'known' : 'other'
    if (!this.#takes(group, target.team, name)) return
    const { kind, code } = failure
    const request = {
      identifier: target.identifier,
      method: exchange.incoming.method ?? '',
      bodyBytes: knownBytes(exchange),
      refusal: { kind, code, reason: textOf(failure) },
      refusedAt: timestampNow(),
    }
    this.#atOnce[group] += 1
    this.#executions
      .noteWebhookRefusal(request, ownContext(asService('gateway', target.team), this.#timeoutMs))
      .then(() => this.#known.set(name, true))
      // Mostly of a process that there is not.
      .catch((error: unknown) => this.#logger.debug({ err: error, team: target.team }, 'a refused call was not kept'))
      .finally(() => {
        this.#atOnce[group] -= 1
      })
  }

  #takes(group: Group, team: string, name: string): boolean {
    const nowMs = performance.now()
    if (nowMs >= this.#windowEndsMs) {
      this.#counts.clear()
      this.#windowEndsMs = nowMs + WINDOW_MS
    }
    const bounds: [string, number][] = [
      [`${group} ${name}`, MOST_OF_ONE],
      [`${group} ${team}`, MOST_OF_TEAM],
      [group, MOST],
    ]
    const counted = bounds.map(([key, most]) => ({ key, count: this.#counts.get(key) ?? 0, most }))
    if (this.#atOnce[group] >= MOST_AT_ONCE || counted.some(({ count, most }) => count >= most)) return false
    for (const { key, count } of counted) this.#counts.set(key, count + 1)
    return true
  }
}
