import { ReplicaService } from '@automation/contract/execution/v1/execution'
import { asService, ownContext, type Client, type Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type { Signals } from '../signals.ts'
import type { RunOutcome } from '../end/waiters.ts'

const wakeTimeoutMs = 2000

/** The other replicas. They are notified by hints; whoever misses one finds out by looking at the rows. */
export class Peers {
  readonly #neighbours: Neighbours
  readonly #logger: Logger
  readonly #ids = new Set<string>()
  readonly #values = new Map<string, Uint8Array>()
  #scheduled = false
  #known: Client<typeof ReplicaService>[] = []
  #knownUntilMs = 0

  constructor(neighbours: Neighbours, signals: Signals, logger: Logger) {
    this.#neighbours = neighbours
    this.#logger = logger
    // What is free here may be kept for newcomers.
    signals.queued.on(() => this.#queued())
  }

  /** These runs have ended; a value that is kept nowhere goes along. */
  ended(executionId: string, outcome?: RunOutcome & { transient: boolean }): void {
    if (this.alone) return
    this.#ids.add(executionId)
    if (outcome?.transient && outcome.returnValue !== undefined) this.#values.set(executionId, outcome.returnValue)
    this.#schedule()
  }

  /** There is something in the queue that this replica has no slot for. */
  #queued(): void {
    if (!this.alone) this.#schedule()
  }

  get alone(): boolean {
    return this.#replicas().length < 2
  }

  /** Replicas come and go, but not often enough to be asked for at each run. */
  #replicas(): Client<typeof ReplicaService>[] {
    if (performance.now() > this.#knownUntilMs) {
      this.#known = this.#neighbours.replicas(ReplicaService)
      this.#knownUntilMs = performance.now() + 1000
    }
    return this.#known
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const executionIds = [...this.#ids]
      const values = [...this.#values].map(([executionId, returnValue]) => ({ executionId, returnValue }))
      this.#ids.clear()
      this.#values.clear()
      for (const replica of this.#replicas()) {
        const context = ownContext(asService('execution'), wakeTimeoutMs)
        replica.wake({ executionIds, values }, context).catch((error: unknown) => {
          this.#logger.debug({ err: error }, 'a replica could not be woken')
        })
      }
    })
  }
}
