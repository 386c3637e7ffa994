import { Status } from '@automation/contract/execution/v1/execution'
import { until, userContext } from '@automation/testing'
import type { Replica } from './system.ts'

/** A reader of an execution: what it was told, in short, with the position of each. */
export class Watched {
  /** `RUNNING`, `log text`, `end FINISHED`. */
  readonly told: string[] = []
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

  /** Waits until it was told so much. */
  async has(...last: string[]): Promise<void> {
    await until(() => last.every((one) => this.told.includes(one)), {
      what: `${last.join(', ')}; told ${this.told.join(', ')}`,
    })
  }

  async #read(stream: AsyncIterator<Told>, first: Promise<IteratorResult<Told>>): Promise<void> {
    for (let next = await first; !next.done; next = await stream.next())
      for (const { position, update } of next.value.updates) {
        this.positions.push(position)
        if (update.case === 'status') {
          this.told.push(Status[update.value.status])
          this.explanations.push(update.value.explanation)
        } else if (update.case === 'log') this.told.push(`log ${update.value.message}`)
        else if (update.case === 'end') this.told.push(`end ${String(Status[update.value])}`)
      }
  }
}

type Told = ReturnType<Replica['executions']['watchExecution']> extends AsyncIterable<infer M> ? M : never
