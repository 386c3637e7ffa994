import type { FedEventBus } from '@automation/events'
import { invalid } from '@automation/errors'
import { isUuid } from '@automation/contract/forms'
import type { Signals } from '../signals.ts'
import type { ForcedEnds } from './forced-ends.ts'
import {
  horizonPassed,
  insertDeletedProcess,
  markRemoved,
  readLiving,
  readUnremoved,
  removeSome,
} from '../store/deleted-processes.ts'
import type { Connections } from '../store/connections.ts'

const patienceMs = 2000
const batch = 500

/** Executions of deleted processes: hidden and killed at once, removed little by little. */
export class ProcessDeletion {
  readonly #pool: Connections
  readonly #forced: ForcedEnds
  readonly #events: Pick<FedEventBus, 'readers'>
  readonly #signals: Signals

  constructor(pool: Connections, forced: ForcedEnds, events: Pick<FedEventBus, 'readers'>, signals: Signals) {
    this.#events = events
    this.#signals = signals
    this.#pool = pool
    this.#forced = forced
  }

  /** Hidden, refused and killed when it returns. Idempotent. */
  async delete(team: string, processId: string): Promise<void> {
    const id = processId.toLowerCase()
    if (!isUuid(id)) throw invalid('/processId', 'The process id is no UUID')
    const xid = await insertDeletedProcess(this.#pool, team, id)
    await this.#kill(team, id)
    // A start that was on its way may have come in behind the first look.
    for (const end = performance.now() + patienceMs; performance.now() < end;) {
      const passed = await horizonPassed(this.#pool, xid)
      await this.#kill(team, id)
      if (passed) break
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    this.#signals.processDeleted.emit()
  }

  /** Goes on with removing; also kills what came in late. Returns when nothing more can be done for now. */
  async sweep(signal: AbortSignal): Promise<void> {
    for (const process of await readUnremoved(this.#pool)) {
      await this.#kill(process.team, process.processId)
      let removed = batch
      while (removed === batch && !signal.aborted)
        // Others have read the events for another configuration.
        removed = await removeSome(this.#pool, process, [...this.#events.readers], batch)
      if (!signal.aborted) await markRemoved(this.#pool, process)
    }
  }

  async #kill(team: string, processId: string): Promise<void> {
    for (;;) {
      const living = await readLiving(this.#pool, team, processId)
      const killed = living.length > 0 ? await this.#forced.kill(living, 'Killed with its process') : []
      if (killed.length === 0) return
    }
  }
}
