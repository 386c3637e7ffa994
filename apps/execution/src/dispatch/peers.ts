import { ReplicaService, type WakeRequestSchema } from '@automation/contract/execution/v1/execution'
import { asService, ownContext, type Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { LRUCache } from 'lru-cache'
import type { RunOutcome } from '../end/waiters.ts'
import type { Signals } from '../signals.ts'
import type { Queries } from '../store/connections.ts'
import { beat, removeReplicas, type ReplicaRow } from '../store/replicas.ts'

export interface PeersContext {
  pool: Queries
  neighbours: Neighbours
  replicaId: string
  /** Where others reach this replica; undefined where it is the only one. */
  address: string | undefined
  signals: Signals
  logger: Logger
}

const wakeTimeoutMs = 2000
const findAgainMs = 500

/**
 * The other replicas, each by its row in the database. They are notified by hints; whoever misses one finds out by looking
 * at the rows.
 */
export class Peers {
  readonly #context: PeersContext
  readonly #ids = new Set<string>()
  readonly #values = new Map<string, Uint8Array>()
  #others: ReplicaRow[] = []
  /** Ids that were looked for and are not there; none comes back. */
  readonly #gone = new LRUCache<string, true>({ max: 1000 })
  /** Ids of replicas that may have come since the last look. */
  readonly #unknown = new Set<string>()
  #isStopping = false
  #scheduled = false

  constructor(context: PeersContext) {
    this.#context = context
    // What is free here may be kept for newcomers.
    context.signals.queued.on(() => this.#schedule())
  }

  /** Says that this replica is there, and learns of the others; to be repeated every few seconds. */
  async look(): Promise<void> {
    const { pool, replicaId: id, address } = this.#context
    if (address !== undefined) this.#others = await beat(pool, { id, address, stopping: this.#isStopping })
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
   * where another one has accepted it.
   */
  ended(executionId: string, outcome?: RunOutcome & { transient: boolean }, acceptedBy?: string): void {
    if (acceptedBy !== undefined && this.#mayHaveCome(acceptedBy)) this.#unknown.add(acceptedBy)
    if (this.#others.length === 0 && this.#unknown.size === 0) return
    this.#ids.add(executionId)
    if (outcome?.transient && outcome.returnValue !== undefined) this.#values.set(executionId, outcome.returnValue)
    this.#schedule()
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
    if (this.#scheduled || (this.#others.length === 0 && this.#unknown.size === 0)) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      void this.#tell()
    })
  }

  async #tell(): Promise<void> {
    const unknown = [...this.#unknown]
    this.#unknown.clear()
    if (unknown.length > 0 && !(await this.#find(unknown))) return this.#tellLater(unknown)
    const executionIds = [...this.#ids]
    const values = [...this.#values].map(([executionId, returnValue]) => ({ executionId, returnValue }))
    this.#ids.clear()
    this.#values.clear()
    for (const { address } of this.#others) void this.#wake(address, { executionIds, values })
  }

  async #wake(address: string, hint: MessageInitShape<typeof WakeRequestSchema>): Promise<void> {
    const { neighbours, logger } = this.#context
    try {
      await neighbours.at(ReplicaService, address).wake(hint, ownContext(asService('execution'), wakeTimeoutMs))
    } catch (error) {
      logger.debug({ err: error, address }, 'a replica could not be woken')
    }
  }

  /** Who waits there would not be told else. */
  #tellLater(unknown: string[]): void {
    for (const id of unknown) this.#unknown.add(id)
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
