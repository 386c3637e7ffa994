import type { Language } from '@automation/contract/common/v1/language'
import type { NewRun } from './store/new-run-columns.ts'

/** Listeners are called at once, in the order in which they came. */
class Signal<T> {
  readonly #listeners: ((value: T) => void)[] = []

  on(listener: (value: T) => void): void {
    this.#listeners.push(listener)
  }

  emit(value: T): void {
    for (const listener of this.#listeners) listener(value)
  }
}

/** A run that waits for a runner; `depth` is absent where it is one of several. */
export type QueuedRun = Pick<NewRun, 'pool' | 'team'> &
  Partial<Pick<NewRun, 'depth'>> & { spec: Pick<NewRun['spec'], 'language'> }

export interface LeftOver {
  pool: string
  team: string
  languages: Language[]
}

/** What is done with a slot of a team. */
export type SlotUse = 'begin' | 'go on'

/**
 * What parts of the engine say to parts that they do not know. Each is only a reason to look at the rows: a missed one costs
 * time and nothing else.
 */
export class Signals {
  /** A run waits in the queue. */
  readonly queued = new Signal<QueuedRun>()
  /** A runner of this pool has a slot for a run. */
  readonly slotGranted = new Signal<string>()
  /** A run of this team counts in its limit no more. */
  readonly slotFreed = new Signal<string>()
  /** Runs of this team wait in this pool, and this replica has no slot for them. */
  readonly leftOver = new Signal<LeftOver>()
  /** A team is at its limit; once a slot of it comes free, a queued run begins here, or one that gave its own back goes on. */
  readonly slotAwaited = new Signal<{ team: string; to: SlotUse }>()
  /** There are new lifecycle events of these runs; of some others as well, where none is named. */
  readonly changed = new Signal<readonly string[]>()
  /** There are new log lines of these runs. */
  readonly logged = new Signal<readonly string[]>()
  /** A process was deleted, and its runs are to be removed. */
  readonly processDeleted = new Signal<void>()
}
