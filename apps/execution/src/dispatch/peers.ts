import { ReplicaService, type WakeRequestSchema } from '@automation/contract/execution/v1/execution'
import { asService, ownContext, type Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { LRUCache } from 'lru-cache'
import type { RunOutcome } from '../end/waiters.ts'
import type { Metrics } from '../metrics.ts'
import type { Queries } from '../store/connections.ts'
import { beat, removeReplicas, type ReplicaRow } from '../store/replicas.ts'
import { PendingHints, type QueueHint } from './pending-hints.ts'

export interface PeersContext {
  pool: Queries
  neighbours: Neighbours
  replicaId: string
  /** Where others reach this replica; undefined where it is the only one. */
  address: string | undefined
  /** Up to when this replica knows which teams have left the cell. */
  movesKnownUntil(): Date | undefined
  metrics: Pick<Metrics, 'hints'>
  logger: Logger
}

/** A run that has ended here. */
interface EndedRun {
  executionId: string
  /** Where it is kept nowhere. */
  returnValue?: Uint8Array
  /** The replica whose caller may wait for it; undefined: any. */
  acceptedBy?: string
}

const wakeTimeoutMs = 2000
const findAgainMs = 500

/**
 * The other replicas, each by its row in the database. They are notified by hints; whoever misses one finds out by looking
 * at the rows.
 */
export class Peers {
  readonly #context: PeersContext
  #ended: EndedRun[] = []
  #others: ReplicaRow[] = []
  /** Hints about the queue that are not sent yet, by the id of the replica. */
  readonly #pending = new Map<string, PendingHints>()
  /** Ids that were looked for and are not there; none comes back. */
  readonly #gone = new LRUCache<string, true>({ max: 1000 })
  #isStopping = false
  #scheduled = false

  constructor(context: PeersContext) {
    this.#context = context
  }

  /** Says that this replica is there, and learns of the others; to be repeated every few seconds. */
  async look(): Promise<void> {
    const { pool, replicaId: id, address, movesKnownUntil } = this.#context
    if (address === undefined) return
    this.#others = await beat(pool, { id, address, stopping: this.#isStopping }, movesKnownUntil())
  }

  /** Others no more count on it, but tell it of the ends that its callers wait for. */
  async stopping(): Promise<void> {
    this.#isStopping = true
    await this.look().catch((error: unknown) => this.#unsaid(error))
  }

  /** Nobody tells it anything any more. */
  async leave(): Promise<void> {
    const { pool, replicaId, address } = this.#context
    if (address !== undefined) await removeReplicas(pool, replicaId).catch((error: unknown) => this.#unsaid(error))
  }

  /** The row expires by itself. */
  #unsaid(error: unknown): void {
    this.#context.logger.warn({ err: error }, 'that this replica stops was not noted')
  }

  /** Rows of replicas that went without a word are removed, by whichever leads. */
  async sweep(): Promise<void> {
    if (this.#context.address !== undefined && this.isLeader) await removeReplicas(this.#context.pool)
  }

  /**
   * This run has ended; a value that is kept nowhere goes along. `acceptedBy` is the replica whose caller may wait for it,
   * where another one has accepted it: only that one is told of others, while it is there.
   */
  ended(executionId: string, outcome?: RunOutcome, acceptedBy?: string): void {
    const isStranger = acceptedBy !== undefined && this.#mayHaveCome(acceptedBy)
    if (this.#others.length === 0 && !isStranger) return
    const returnValue = outcome?.transient ? outcome.returnValue : undefined
    this.#ended.push({ executionId, returnValue, acceptedBy })
    this.#schedule()
  }

  /** Sends these replicas a hint about the queue; absent: all. */
  hint(hint: QueueHint, to: readonly string[] = this.#others.map(({ id }) => id)): void {
    for (const id of to) {
      const pending = this.#pending.get(id) ?? new PendingHints()
      this.#pending.set(id, pending)
      pending.add(hint)
    }
    if (to.length > 0) this.#schedule()
  }

  /** There is no other replica. Where others stop at the same time, those that come after them take over what runs. */
  get alone(): boolean {
    return this.#others.length === 0
  }

  /**
   * Whether it does what one replica is to do for all: the one with the first id of those that stay. For a moment two
   * may think so.
   */
  get isLeader(): boolean {
    const first = this.#others.find(({ stopping }) => !stopping)
    return first === undefined || this.#context.replicaId < first.id
  }

  /** How many replicas there are with this one; undefined where it can only be one. */
  get count(): number | undefined {
    return this.#context.address === undefined ? undefined : this.#others.length + 1
  }

  #mayHaveCome(id: string): boolean {
    return this.#context.address !== undefined && !this.#gone.has(id) && this.#others.every((other) => other.id !== id)
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      void this.#tell()
    })
  }

  async #tell(): Promise<void> {
    const strangers = this.#ended.flatMap(({ acceptedBy }) => acceptedBy ?? []).filter((id) => this.#mayHaveCome(id))
    if (strangers.length > 0 && !(await this.#find(strangers))) return this.#tellLater()
    const ended = this.#ended.splice(0)
    for (const { id, address } of this.#others) {
      const runs = ended.filter((run) => this.#concerns(run, id))
      const pending = this.#pending.get(id)
      if (runs.length === 0 && pending === undefined) continue
      const values = runs.flatMap(({ executionId, returnValue }) => (returnValue ? [{ executionId, returnValue }] : []))
      const queue = { replicaId: this.#context.replicaId, ...pending?.message }
      void this.#wake(address, { executionIds: runs.map(({ executionId }) => executionId), values, queue })
    }
    this.#pending.clear()
  }

  /**
   * Those that waited at a replica that has gone, or is about to go, may wait at any other one; so may those of a value that
   * is kept nowhere, which they could not read later.
   */
  #concerns({ acceptedBy, returnValue }: EndedRun, id: string): boolean {
    return (
      acceptedBy === id ||
      returnValue !== undefined ||
      !this.#others.some((other) => other.id === acceptedBy && !other.stopping)
    )
  }

  async #wake(address: string, request: MessageInitShape<typeof WakeRequestSchema>): Promise<void> {
    const { neighbours, metrics, logger } = this.#context
    metrics.hints.inc()
    try {
      await neighbours.at(ReplicaService, address).wake(request, ownContext(asService('execution'), wakeTimeoutMs))
    } catch (error) {
      logger.debug({ err: error, address }, 'a replica could not be woken')
    }
  }

  /** Who waits there would not be told else. */
  #tellLater(): void {
    this.#scheduled = true
    setTimeout(() => {
      this.#scheduled = false
      void this.#tell()
    }, findAgainMs).unref()
  }

  /** Whether the rows could be read. */
  async #find(ids: string[]): Promise<boolean> {
    try {
      await this.look()
    } catch (error) {
      this.#context.logger.debug({ err: error }, 'the other replicas are not known now')
      return false
    }
    for (const id of ids) if (this.#mayHaveCome(id)) this.#gone.set(id, true)
    return true
  }
}
