import { failPoint, Periodic, type Logger } from '@automation/service'
import { dueAt } from '../cron/next-due.ts'
import { whenOf } from '../schedule.ts'
import { fireDue, readDue, untilNext } from '../store/due.ts'
import { holdFirings, takeFirings, type OpenFiring, type Capacity } from '../store/firings.ts'
import type { Store } from '../store/store.ts'
import { shareOf } from '../store/turns.ts'
import type { Firer } from './firer.ts'

const atOnce = 500
/** After so long others take what a replica held that is gone. */
const leaseMs = 3000
/** What another replica has changed is seen after so long at the latest. */
const mostPauseMs = 1000
const leastPauseMs = 5
// What others have that is due meanwhile is late by no more.
const heldBackMs = 50

/** Looks for what is due when it is due, and has it decided. Any number of replicas may. */
export class Pulse {
  readonly #store: Store
  readonly #firer: Firer
  readonly #logger: Logger
  readonly #deciding = new Map<OpenFiring, Promise<void>>()
  readonly #holding: Periodic
  #isHeldBack = false
  #stopped = false
  #wake = Promise.withResolvers<void>()
  #running: Promise<void> | undefined

  constructor(store: Store, firer: Firer, logger: Logger) {
    this.#store = store
    this.#firer = firer
    this.#logger = logger
    this.#holding = new Periodic('holding firings', leaseMs / 3, logger, async () => {
      if (this.#deciding.size > 0) await holdFirings(store, [...this.#deciding.keys()], leaseMs)
    })
  }

  start(): void {
    this.#running = this.#run()
    this.#holding.start()
  }

  /** Something may be due earlier than was known. */
  soon(): void {
    this.#wake.resolve()
  }

  /** Nothing more is looked for. */
  quiesce(): void {
    this.#stopped = true
    this.soon()
  }

  /** What is being decided is decided first. */
  async stop(): Promise<void> {
    this.quiesce()
    await this.#running
    await Promise.all(this.#deciding.values())
    await this.#holding.stop()
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#wake = Promise.withResolvers()
      const pauseMs = await this.#look().catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'looking for what is due failed, trying again')
        return mostPauseMs
      })
      const timer = setTimeout(() => this.soon(), pauseMs)
      await this.#wake.promise
      clearTimeout(timer)
    }
  }

  /** Gives how long nothing is due, in ms. */
  async #look(): Promise<number> {
    const due = await readDue(this.#store, atOnce)
    const fire = due.map((row) => ({
      id: row.id,
      revision: row.revision,
      ...dueAt(whenOf(row), row.zoneId, row.nextAt.getTime(), row.now.getTime()),
    }))
    if (fire.length > 0) {
      await fireDue(this.#store, fire)
      failPoint('firings-after-commit')
    }
    const capacity = this.#capacity()
    const taken = capacity.most > 0 ? await takeFirings(this.#store, capacity, leaseMs) : []
    for (const firing of taken) this.#decide(firing)
    if (this.#deciding.size >= atOnce) return mostPauseMs
    const nextMs = (await untilNext(this.#store)) ?? mostPauseMs
    // What is due waits for the share of its team, which the end of a decision gives.
    this.#isHeldBack = nextMs <= 0 && fire.length === 0 && taken.length === 0
    return Math.min(Math.max(nextMs, this.#isHeldBack ? heldBackMs : leastPauseMs), mostPauseMs)
  }

  /** Those that take long, of one team, leave capacity to others. */
  #capacity(): Capacity {
    const most = atOnce - this.#deciding.size
    const held = Map.groupBy(this.#deciding.keys(), ({ team }) => team)
    const shares = new Map([...held].map(([team, firings]) => [team, shareOf(most, firings.length)]))
    return { most, share: shareOf(most, 0), shares }
  }

  #decide(firing: OpenFiring): void {
    const deciding = this.#firer
      .decide(firing)
      .catch((error: unknown) =>
        this.#logger.warn({ err: error, schedule: firing.id }, 'a firing could not be decided, trying again later'),
      )
      .finally(() => {
        if (this.#deciding.size >= atOnce || this.#isHeldBack) this.soon()
        this.#deciding.delete(firing)
      })
    this.#deciding.set(firing, deciding)
  }
}
