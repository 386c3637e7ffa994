import { ExecutionEventSchema } from '@automation/contract/events/v1/execution_event'
import { create } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Cursor, Leadership, OutboxEvent } from '../src/outbox.ts'
import { relay } from '../src/outbox-bus.ts'

interface Transaction {
  xid: bigint
  events: OutboxEvent[]
  /** Executions whose rows it has locked, until it commits. */
  locks: Set<string>
}

/** A database with transactions that begin, write and commit in any order; who writes an execution holds its lock. */
class Database implements Leadership {
  readonly #open: Transaction[] = []
  readonly #committed: { xid: bigint; event: OutboxEvent }[] = []
  readonly #sequences = new Map<string, number>()
  #xid = 100n
  #position = 0n
  #cursor: Cursor = { from: 100n, to: 100n, position: 0n }

  begin(): void {
    this.#open.push({ xid: this.#xid++, events: [], locks: new Set() })
  }

  write(which: number, executionId: string): void {
    const transaction = this.#open[which % Math.max(this.#open.length, 1)]
    if (transaction === undefined) return
    if (this.#open.some((other) => other !== transaction && other.locks.has(executionId))) return
    transaction.locks.add(executionId)
    const sequence = (this.#sequences.get(executionId) ?? 0) + 1
    this.#sequences.set(executionId, sequence)
    const event = create(ExecutionEventSchema, { eventId: `${executionId}:${sequence}`, executionId, sequence })
    transaction.events.push({ position: ++this.#position, event })
  }

  commit(which: number): void {
    const [transaction] = this.#open.splice(which % Math.max(this.#open.length, 1), 1)
    for (const event of transaction?.events ?? []) this.#committed.push({ xid: transaction!.xid, event })
  }

  commitAll(): void {
    while (this.#open.length > 0) this.commit(0)
  }

  get written(): string[] {
    return [...this.#sequences].flatMap(([id, last]) =>
      Array.from({ length: last }, (_, index) => `${id}:${index + 1}`),
    )
  }

  async cursor(): Promise<Cursor> {
    return this.#cursor
  }

  async horizon(): Promise<bigint> {
    return this.#open.reduce((least, { xid }) => (xid < least ? xid : least), this.#xid)
  }

  async read({ from, to, position }: Cursor, limit: number): Promise<OutboxEvent[]> {
    return this.#committed
      .filter(({ xid, event }) => xid >= from && xid < to && event.position > position)
      .map(({ event }) => event)
      .toSorted((a, b) => (a.position < b.position ? -1 : 1))
      .slice(0, limit)
  }

  async save(cursor: Cursor): Promise<void> {
    this.#cursor = cursor
  }

  async release(): Promise<void> {}
}

type Step =
  | { do: 'begin' }
  | { do: 'write'; which: number; id: string }
  | { do: 'commit'; which: number }
  | { do: 'relay'; crash: boolean }
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('begin' as const) }),
  fc.record({ do: fc.constant('write' as const), which: fc.nat(5), id: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ do: fc.constant('commit' as const), which: fc.nat(5) }),
  fc.record({ do: fc.constant('relay' as const), crash: fc.boolean() }),
)

test('whatever the order of commits and crashes, each event comes, those of one execution in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 4 }), async (steps, limit) => {
      const database = new Database()
      const heard: { id: string; sequence: number; eventId: string }[] = []
      const hear = async (crash: boolean) => {
        const handled = relay({
          leadership: database,
          handle: async (events) => {
            heard.push(...events.map(({ executionId, sequence, eventId }) => ({ id: executionId, sequence, eventId })))
            if (crash) throw new Error('crash after the effect')
          },
          limit,
          savesEmpty: (transactions) => transactions > 2n,
          signal: new AbortController().signal,
        })
        await handled.catch((error: Error) => expect(error.message).toBe('crash after the effect'))
      }
      for (const one of steps) {
        if (one.do === 'begin') database.begin()
        else if (one.do === 'write') database.write(one.which, one.id)
        else if (one.do === 'commit') database.commit(one.which)
        else await hear(one.crash)
      }
      database.commitAll()
      await hear(false)
      expect(new Set(heard.map(({ eventId }) => eventId))).toEqual(new Set(database.written))
      const last = new Map<string, number>()
      for (const { id, sequence } of heard) {
        expect(sequence).toBeLessThanOrEqual((last.get(id) ?? 0) + 1)
        last.set(id, Math.max(last.get(id) ?? 0, sequence))
      }
    }),
    { numRuns: 300 },
  )
})
