import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import type { Member } from '@automation/rpc'
import { failPoint, within, type Logger } from '@automation/service'
import { SandboxFault, type Driver, type SandboxOrder } from './drivers/driver.ts'
import { retryWhileAway } from './retry-while-away.ts'
import { endOverdue, endUnanswered, markEnded, markRunning, type End } from './store/changes.ts'
import { readActive } from './store/reads.ts'
import type { SandboxRow } from './store/rows.ts'
import type { Store } from './store/store.ts'

interface ReconcilerOptions {
  store: Store
  driver: Driver
  startTimeoutMs: number
  /** So many have started, or could not be. */
  counted(outcome: StartOutcome, count: number): void
  logger: Logger
}

export type StartOutcome = 'started' | 'failed'

const stopped: End = {
  status: SandboxStatus.FAILED,
  reason: 'The service stopped, and with it the sandboxes of its machine',
}

/**
 * Reconciles the rows with the sandboxes that the driver has: makes those that are missing, and ends those that should not
 * be there.
 */
export class Reconciler {
  readonly driver: Driver
  readonly #options: ReconcilerOptions
  /** Those that this process is about to make. */
  readonly #making = new Map<string, Promise<SandboxRow | undefined>>()
  /** Those that this process has asked for and that are not gone yet, with their teams. */
  readonly #there = new Map<string, string>()
  /** Those with news for their rows that the database may not have taken yet. */
  readonly #unwritten = new Set<string>()
  readonly #closing = new AbortController()
  #hasLeft = false

  constructor(options: ReconcilerOptions) {
    this.#options = options
    this.driver = options.driver
  }

  /**
   * Asks the driver for a sandbox whose row is there; what comes of it is in the row, which is given where it runs.
   * Throws nothing.
   */
  make(order: SandboxOrder): Promise<SandboxRow | undefined> {
    this.#there.set(order.id, order.team)
    const made = this.#make(order).finally(() => this.#making.delete(order.id))
    this.#making.set(order.id, made)
    return made
  }

  /** How many of a team this process has asked for that are not gone yet; of some the rows may say that they have ended. */
  countOf(team: string): number {
    return [...this.#there.values()].filter((each) => each === team).length
  }

  async #make(order: SandboxOrder): Promise<SandboxRow | undefined> {
    const { store, logger } = this.#options
    try {
      const address = await this.driver.create(order)
      failPoint('sandbox-given')
      const row = await this.#recorded(order.id, () => markRunning(store, order.id, address))
      // Killed, or late, while it was made.
      if (row === undefined) await this.#end(order.id)
      else this.#options.counted('started', 1)
      return row
    } catch (error) {
      // Another replica ends it, unless it answers by then.
      if (this.#hasLeft) return undefined
      const reason = error instanceof SandboxFault ? error.message : 'It could not be started'
      logger.warn({ err: error, sandbox: order.id }, 'a sandbox could not be started')
      if (await this.ended(order.id, reason)) this.#options.counted('failed', 1)
      return undefined
    }
  }

  /** Ends a sandbox, first in its row: that is what counts, and what can't be carried out now is later. */
  async kill(id: string, killedBy: Member): Promise<void> {
    await markEnded(this.#options.store, id, { killedBy })
    failPoint('sandbox-end-written')
    await this.#quietly(id, () => this.#end(id))
  }

  /**
   * One that ran has ended by itself. One that is PENDING is its maker's: another replica sees ends of what the maker has
   * given up to make it anew.
   */
  async endedByItself(id: string, reason: string): Promise<void> {
    await this.#making.get(id)
    await this.#quietly(id, async () => {
      const end = { status: SandboxStatus.FAILED, reason } as const
      const row = await this.#recorded(id, () => markEnded(this.#options.store, id, end, SandboxStatus.RUNNING))
      failPoint('sandbox-end-written')
      if (row !== undefined || this.#there.has(id)) await this.#end(id)
    })
  }

  /** One could not be had, or is gone. Gives whether that is its end: it may have had one before. */
  async ended(id: string, reason: string): Promise<boolean> {
    let isItsEnd = false
    await this.#quietly(id, async () => {
      const end = { status: SandboxStatus.FAILED, reason } as const
      isItsEnd = (await this.#recorded(id, () => markEnded(this.#options.store, id, end))) !== undefined
      failPoint('sandbox-end-written')
      await this.#end(id)
    })
    return isItsEnd
  }

  /** Where the driver's sandboxes end with the service, rows of a former process have nothing behind them. */
  async takeOver(): Promise<void> {
    if (this.driver.outlivesService) return
    const rows = await readActive(this.#options.store, this.driver.name)
    for (const { id } of rows) await markEnded(this.#options.store, id, stopped)
  }

  /** Ends those whose time is over, and those that have not answered in time. */
  async lookAtDeadlines(): Promise<void> {
    const { store, startTimeoutMs } = this.#options
    const overdue = await endOverdue(store)
    const reason = `It did not answer within ${startTimeoutMs} ms`
    const unanswered = await endUnanswered(store, startTimeoutMs, { reason, except: [...this.#unwritten] })
    this.#options.counted('failed', unanswered.length)
    // One that takes its time must not hold up the deadlines of others.
    for (const id of [...overdue, ...unanswered]) void this.#quietly(id, () => this.#end(id))
  }

  /** Compares rows with what the driver holds, both ways. Gives how many it holds. */
  async reconcile(): Promise<number> {
    const { store } = this.#options
    const before = await readActive(store, this.driver.name)
    const made = [...this.#there.keys()].filter((id) => !this.#making.has(id))
    const held = new Set(await this.driver.list())
    const wanted = new Set((await readActive(store, this.driver.name)).map(({ id }) => id))
    for (const id of made) if (!held.has(id)) this.#there.delete(id)
    // A row is there before its sandbox: what is held without one has ended.
    const orphans = [...held].filter((id) => !wanted.has(id))
    const isLost = (id: string) => !held.has(id) && !this.#making.has(id) && !this.#unwritten.has(id)
    // Of one that is PENDING its maker may have nothing yet.
    const lost = before.filter(({ id, status }) => status === SandboxStatus.RUNNING && isLost(id))
    await Promise.all([
      ...orphans.map((id) => this.#quietly(id, () => this.#end(id))),
      ...lost.map(({ id }) => this.ended(id, this.driver.lostReason)),
    ])
    return held.size
  }

  /** Lets go of the driver. What ends with it is told so in its row; what outlives it may come within `graceMs`. */
  async close(graceMs: number): Promise<void> {
    if (this.driver.outlivesService) await within(graceMs, Promise.all(this.#making.values()))
    else {
      const rows = await readActive(this.#options.store, this.driver.name).catch(() => [])
      for (const { id } of rows)
        await this.#quietly(id, async () => {
          await markEnded(this.#options.store, id, stopped)
        })
    }
    this.#hasLeft = this.driver.outlivesService
    this.#closing.abort()
    await this.driver.stop()
  }

  async #end(id: string): Promise<void> {
    await this.driver.end(id)
    this.#there.delete(id)
  }

  /** Writes what is known of a sandbox, however long the database is away: this process alone knows it. */
  async #recorded<T>(id: string, write: () => Promise<T>): Promise<T> {
    this.#unwritten.add(id)
    const { logger } = this.#options
    try {
      return await retryWhileAway(
        write,
        (err, againInMs) => logger.warn({ err, sandbox: id, againInMs }, 'the row of a sandbox can not be written yet'),
        this.#closing.signal,
      )
    } finally {
      this.#unwritten.delete(id)
    }
  }

  /** A failure here is mended by the next look. */
  async #quietly(id: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#options.logger.warn({ err: error, sandbox: id }, 'a sandbox could not be ended yet, trying again')
    }
  }
}
