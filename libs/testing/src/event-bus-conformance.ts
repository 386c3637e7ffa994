import type { ExecutionEvent } from '@automation/contract/events/v1/execution_event'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EventBus } from '@automation/events'

/** A bus under test, and how events come into being on it. */
export interface BusUnderTest {
  bus: EventBus
  /** A second process on the same bus. */
  other(): Promise<EventBus>
  /** Lets that many executions go through their lives, at the same time; gives their ids. */
  produce(executions: number): Promise<string[]>
  close(): Promise<void>
}

const lastSequence = 3

/** What every event bus promises; each adapter runs this suite. Executions of `produce` have the sequences 1 to 3. */
export function eventBusConformance(name: string, open: () => Promise<BusUnderTest>): void {
  describe(name, () => {
    let subject: BusUnderTest

    beforeEach(async () => {
      subject = await open()
    })
    afterEach(() => subject.close())

    test('every event comes, those of one execution in order', async () => {
      const heard = new Heard()
      subject.bus.subscribe('all', heard.handle)
      await heard.ready(subject)
      const ids = await subject.produce(50)
      await heard.all(ids)
      expect(heard.outOfOrder()).toEqual([])
    })

    test('consumers of different names have all events each', async () => {
      const [one, two] = [new Heard(), new Heard()]
      subject.bus.subscribe('one', one.handle)
      subject.bus.subscribe('two', two.handle)
      await Promise.all([one.ready(subject), two.ready(subject)])
      const ids = await subject.produce(5)
      await Promise.all([one.all(ids), two.all(ids)])
    })

    test('what a handler failed on comes again', async () => {
      const heard = new Heard()
      let failures = 3
      subject.bus.subscribe('failing', async (events) => {
        if (heard.count > 0 && failures-- > 0) throw new Error('not now')
        await heard.handle(events)
      })
      await heard.ready(subject)
      await heard.all(await subject.produce(5))
      expect(heard.outOfOrder()).toEqual([])
    })

    test('a consumer that comes back hears what it has missed', async () => {
      const heard = new Heard()
      const subscription = subject.bus.subscribe('absent', heard.handle)
      await heard.ready(subject)
      await subscription.close()
      const ids = await subject.produce(5)
      subject.bus.subscribe('absent', heard.handle)
      await heard.all(ids)
    })

    test('subscribers of the same name share the events, and one takes over from the other', async () => {
      const [here, there] = [new Heard(), new Heard()]
      const subscription = subject.bus.subscribe('shared', here.handle)
      await here.ready(subject)
      const other = await subject.other()
      other.subscribe('shared', there.handle)
      const first = await subject.produce(5)
      await Heard.together(first, here, there)
      await subscription.close()
      const later = await subject.produce(5)
      await there.all(later)
      expect(there.outOfOrder()).toEqual([])
      await other.close()
    })
  })
}

/** What a consumer has heard, in order. */
class Heard {
  readonly #events: ExecutionEvent[] = []

  readonly handle = async (events: ExecutionEvent[]): Promise<void> => {
    this.#events.push(...events)
  }

  get count(): number {
    return this.#events.length
  }

  /** Produces until something arrives: from then on nothing is missed. */
  async ready(subject: BusUnderTest): Promise<void> {
    for (let tries = 0; this.count === 0; tries++) {
      if (tries === 600) throw new Error('nothing was heard')
      await subject.produce(1)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  all(ids: string[]): Promise<void> {
    return Heard.together(ids, this)
  }

  static async together(ids: string[], ...heard: Heard[]): Promise<void> {
    const missing = () => {
      const known = new Set(heard.flatMap((one) => one.#events.map(({ eventId }) => eventId)))
      return ids.flatMap((id) => [1, 2, 3].map((sequence) => `${id}:${sequence}`)).filter((id) => !known.has(id))
    }
    for (const end = performance.now() + 30_000; missing().length > 0;) {
      if (performance.now() > end) throw new Error(`not heard: ${missing().join(', ')}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  /** Events that came before an earlier one of their execution, repetitions left out. */
  outOfOrder(): string[] {
    const last = new Map<string, number>()
    const wrong: string[] = []
    for (const { executionId, sequence, eventId } of this.#events) {
      const before = last.get(executionId) ?? 0
      if (sequence > before + 1 && before < lastSequence && before > 0) wrong.push(eventId)
      if (sequence > before) last.set(executionId, sequence)
    }
    return wrong
  }
}
