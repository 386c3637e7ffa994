import type { WebhookCall } from '@automation/contract/execution/v1/execution'
import { asFailure, type Failure } from '@automation/errors'
import type { Logger } from '@automation/service'
import type { Metrics } from '../metrics.ts'
import { insertRefusals, type RefusalRow } from '../store/webhook-refusals.ts'
import type { Queries } from '../store/connections.ts'
import { newExecutionId } from '../execution-id.ts'

const windowMs = 60_000
/** Rows that a replica writes a minute: of a process, of a team, and in all. */
const most = { process: 100, team: 1000, all: 3000 }
const collectedMs = 250
const reasonCharacters = 500
const nameCharacters = 100
const mostBytes = 2n ** 53n

/** What of a call of a webhook is told. */
export type RefusedCall = Pick<WebhookCall, 'method' | 'bodyBytes'> & {
  /** Where it was refused before it came here. */
  refusedAtMs?: number | undefined
}

/**
 * Keeps refused calls of webhooks for those who look why: in batches and behind the answers, so that no caller waits for
 * it, and only as many as a flood of strangers may cost. What is beyond that, or can't be written, is left out.
 */
export class WebhookRefusals {
  readonly #pool: Queries
  readonly #metrics: Pick<Metrics, 'webhookRefusals'>
  readonly #logger: Logger
  readonly #counts = new Map<string, number>()
  #windowEndsMs = 0
  #waiting: RefusalRow[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  constructor(pool: Queries, metrics: Pick<Metrics, 'webhookRefusals'>, logger: Logger) {
    this.#pool = pool
    this.#metrics = metrics
    this.#logger = logger
  }

  /** `reason`: in place of what the caller was told. */
  note(process: { team: string; processId: string }, call: RefusedCall, failure: Failure, reason?: string): void {
    if (!this.#takes(process)) return this.#metrics.webhookRefusals.inc({ outcome: 'dropped' })
    const { kind, code } = failure
    this.#waiting.push({
      ...process,
      id: newExecutionId(timeOf(call)),
      method: call.method.slice(0, nameCharacters),
      // What was only announced may be any number.
      bytes: call.bodyBytes < mostBytes ? call.bodyBytes : mostBytes,
      kind,
      code: code.slice(0, nameCharacters),
      reason: (reason ?? textOf(failure)).slice(0, reasonCharacters).toWellFormed(),
    })
    this.#plan()
  }

  /** Ends when all that this replica noted before is written or given up: who reads then finds it. */
  async written(): Promise<void> {
    await this.#writing
    if (this.#writing === undefined && this.#waiting.length > 0) this.#begin()
    await this.#writing
  }

  /** Writes what is waiting, once. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#writing
    if (this.#waiting.length > 0) await this.#write()
    clearTimeout(this.#timer)
  }

  #takes({ team, processId }: { team: string; processId: string }): boolean {
    const nowMs = performance.now()
    if (nowMs >= this.#windowEndsMs) {
      this.#counts.clear()
      this.#windowEndsMs = nowMs + windowMs
    }
    const names = [
      [`process ${team} ${processId}`, most.process],
      [`team ${team}`, most.team],
      ['all', most.all],
    ] as const
    if (names.some(([name, limit]) => (this.#counts.get(name) ?? 0) >= limit)) return false
    for (const [name] of names) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    return true
  }

  #plan(): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return
    this.#timer = setTimeout(() => this.#begin(), collectedMs)
    this.#timer.unref()
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined
      if (this.#waiting.length > 0) this.#plan()
    })
  }

  async #write(): Promise<void> {
    const rows = this.#waiting.splice(0)
    let outcome = 'written'
    try {
      await insertRefusals(this.#pool, rows)
    } catch (error) {
      outcome = 'dropped'
      this.#logger.warn(
        { err: asFailure(error).cause ?? error, count: rows.length },
        'refused calls of webhooks were not kept',
      )
    }
    this.#metrics.webhookRefusals.inc({ outcome }, rows.length)
  }
}

/** When it was refused elsewhere; undefined for now, where nobody says or a clock is far from ours. */
function timeOf({ refusedAtMs }: RefusedCall): number | undefined {
  return refusedAtMs !== undefined && Math.abs(Date.now() - refusedAtMs) < windowMs ? refusedAtMs : undefined
}

/** What was wrong, with the fields that it was wrong in. */
function textOf({ message, fields }: Failure): string {
  const texts = fields.map((fault) => `${fault.path} ${fault.message}`.trim())
  return fields.some((fault) => fault.message === message) ? texts.join('; ') : [message, ...texts].join('; ')
}
