import { randomUUID } from 'node:crypto'
import { ExecutionEventSchema, type ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { Status } from '@automation/contract/execution/v1/execution'
import { create } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { Cursor, Leadership, Outbox, OutboxEvent, Waiting } from '../../src/outbox.ts'

const perExecution = 3
const together = 200
const perTransaction = 50n

/** An outbox in memory that fills as time goes by: executions of three events each, many of them under way at once. */
export class LedgerOutbox implements Outbox {
  readonly events: ExecutionEvent[] = []
  readonly #perMs: number
  readonly #startedAt = performance.now()
  #cursor: Cursor = { from: 0n, to: 0n, position: 0n }
  #led = false

  constructor(count: number, perSecond: number) {
    this.#perMs = perSecond / 1000
    while (this.events.length < count) {
      const ids = Array.from({ length: together }, () => randomUUID())
      for (let sequence = 1; sequence <= perExecution; sequence++)
        for (const id of ids) this.events.push(eventOf(id, sequence))
    }
    this.events.length = count
  }

  /** Events that the cursor has passed: acknowledged ones. */
  get published(): number {
    const { from, position } = this.#cursor
    return Math.max(Number(position), Math.min(Number(from * perTransaction), this.events.length))
  }

  async lead(): Promise<Leadership | undefined> {
    if (this.#led) return undefined
    this.#led = true
    return {
      cursor: async () => this.#cursor,
      horizon: async () =>
        BigInt(this.#written()) / perTransaction + (this.#written() === this.events.length ? 1n : 0n),
      read: async (cursor, limit) => this.#read(cursor, limit),
      save: async (cursor) => {
        this.#cursor = cursor
      },
      release: async () => {
        this.#led = false
      },
    }
  }

  async backlog(): Promise<Waiting> {
    return { count: this.events.length - this.published, oldestMs: 0 }
  }

  #written(): number {
    return Math.min(Math.floor((performance.now() - this.#startedAt) * this.#perMs), this.events.length)
  }

  #read({ from, to, position }: Cursor, limit: number): OutboxEvent[] {
    const first = Math.max(Number(from * perTransaction), Number(position))
    const end = Math.min(Number(to * perTransaction), this.events.length, first + limit)
    return this.events.slice(first, end).map((event, index) => ({ position: BigInt(first + index + 1), event }))
  }
}

function eventOf(executionId: string, sequence: number): ExecutionEvent {
  return create(ExecutionEventSchema, {
    eventId: `${executionId}:${sequence}`,
    executionId,
    team: 'broker-test',
    processId: '00000000-0000-7000-8000-000000000000',
    sequence,
    status: [Status.CREATED, Status.RUNNING, Status.FINISHED][sequence - 1]!,
    time: timestampFromMs(Date.now()),
  })
}

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
