import { Status } from '@automation/contract/execution/v1/execution'
import { until, userContext } from '@automation/testing'
import type { Replica } from './system.ts'

/** A reader of an execution: what it observes, in short, with the position of each. */
export class Watched {
  /** `RUNNING`, `log text`, `end FINISHED`. */
  readonly observed: string[] = []
  readonly explanations: (string | undefined)[] = []
  readonly positions: string[] = []
  /** That the execution is there, or the failure. */
  readonly opened: Promise<void>
  /** Once the stream is over. */
  readonly done: Promise<void>
  readonly #leave = new AbortController()

  constructor(replica: Replica, executionId: string, after = '', team = 'demo') {
    const context = { ...userContext(team), deadlineMs: undefined, signal: this.#leave.signal }
    const stream = replica.executions.watchExecution({ executionId, after }, context)[Symbol.asyncIterator]()
    const first = stream.next()
    this.opened = first.then(() => undefined)
    this.opened.catch(() => undefined)
    this.done = this.#read(stream, first)
    this.done.catch(() => undefined)
  }

  leave(): void {
    this.#leave.abort()
  }

  /** Waits until it has observed so much. */
  async has(...last: string[]): Promise<void> {
    await until(() => last.every((one) => this.observed.includes(one)), {
      what: `${last.join(', ')}; observed ${this.observed.join(', ')}`,
    })
  }

  async #read(stream: AsyncIterator<Update>, first: Promise<IteratorResult<Update>>): Promise<void> {
    for (let next = await first; !next.done; next = await stream.next())
      for (const { position, update } of next.value.updates) {
        this.positions.push(position)
        if (update.case === 'status') {
          this.observed.push(Status[update.value.status])
          this.explanations.push(update.value.explanation)
        } else if (update.case === 'log') this.observed.push(`log ${update.value.message}`)
        else if (update.case === 'end') this.observed.push(`end ${String(Status[update.value])}`)
      }
  }
}

type Update = ReturnType<Replica['executions']['watchExecution']> extends AsyncIterable<infer M> ? M : never
