import type { WebhookCall } from '@automation/contract/execution/v1/execution'
import type { Failure } from '@automation/errors'
import { BoundedRows, type Logger } from '@automation/service'
import type { Metrics } from '../metrics.ts'
import { insertRefusals, type RefusalRow } from '../store/webhook-refusals.ts'
import type { Queries } from '../store/connections.ts'
import { newExecutionId } from '../execution-id.ts'

/** Rows that a replica writes a minute: of a process, of a team, and in all. */
const most = { process: 100, team: 1000, all: 3000 }
const longestAgoMs = 60_000
const reasonCharacters = 500
const nameCharacters = 100
const mostBytes = 2n ** 53n

/** What of a call of a webhook is told. */
export type RefusedCall = Pick<WebhookCall, 'method' | 'bodyBytes'> & {
  /** Where it was refused before it came here. */
  refusedAtMs?: number | undefined
}

/** Keeps refused calls of webhooks for those who look why, as many as are bounded. */
export class WebhookRefusals {
  readonly #rows: BoundedRows<RefusalRow>

  constructor(pool: Queries, { webhookRefusals: counter }: Pick<Metrics, 'webhookRefusals'>, logger: Logger) {
    const write = async (rows: RefusalRow[]) => {
      await insertRefusals(pool, rows)
      return rows.length
    }
    this.#rows = new BoundedRows({ write, counter, logger, what: 'refused calls of webhooks' })
  }

  /** `reason`: in place of what the caller was told. */
  note(process: { team: string; processId: string }, call: RefusedCall, failure: Failure, reason?: string): void {
    const { kind, code } = failure
    const row = {
      ...process,
      id: newExecutionId(timeOf(call)),
      method: call.method.slice(0, nameCharacters),
      // What was only announced may be any number.
      bytes: call.bodyBytes < mostBytes ? call.bodyBytes : mostBytes,
      kind,
      code: code.slice(0, nameCharacters),
      reason: (reason ?? textOf(failure)).slice(0, reasonCharacters).toWellFormed(),
    }
    const { team, processId } = process
    this.#rows.note(row, [
      [`process ${team} ${processId}`, most.process],
      [`team ${team}`, most.team],
      ['all', most.all],
    ])
  }

  /** Ends when all that this replica noted before is written or given up: who reads then finds it. */
  written(): Promise<void> {
    return this.#rows.written()
  }

  /** Writes what is waiting, once. */
  close(): Promise<void> {
    return this.#rows.close()
  }
}

/** When it was refused elsewhere; undefined for now, where nobody says or a clock is far from ours. */
function timeOf({ refusedAtMs }: RefusedCall): number | undefined {
  return refusedAtMs !== undefined && Math.abs(Date.now() - refusedAtMs) < longestAgoMs ? refusedAtMs : undefined
}

/** What was wrong, with the fields that it was wrong in. */
function textOf({ message, fields }: Failure): string {
  const texts = fields.map((fault) => `${fault.path} ${fault.message}`.trim())
  return fields.some((fault) => fault.message === message) ? texts.join('; ') : [message, ...texts].join('; ')
}
