import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'

/** What a consumer has heard, against what was written. */
export class Ledger {
  readonly #last = new Map<string, number>()
  readonly #heard = new Set<string>()
  again = 0
  outOfOrder = 0

  readonly hear = async (events: ExecutionEvent[]): Promise<void> => {
    for (const { executionId, sequence, eventId } of events) {
      if (this.#heard.has(eventId)) {
        this.again += 1
        continue
      }
      const last = this.#last.get(executionId) ?? 0
      if (sequence !== last + 1) this.outOfOrder += 1
      this.#last.set(executionId, Math.max(last, sequence))
      this.#heard.add(eventId)
    }
  }

  get count(): number {
    return this.#heard.size
  }

  lost(written: ExecutionEvent[]): number {
    return written.filter(({ eventId }) => !this.#heard.has(eventId)).length
  }
}
