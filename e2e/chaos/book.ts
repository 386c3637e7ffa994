import type { Execution, Status } from '../client/records.ts'
import type { Removal } from './removals.ts'

/** What the system has told a caller about an execution, and so has promised. */
export interface Promised {
  id: string
  /** Which call told it. */
  by: string
  /** A sync answer or an accepted kill says how it ended. */
  status?: Status
  /** JSON text of the value that a sync answer had. */
  returnValue?: string
}

/** Everything that callers were told, kept outside the system. */
export class Book {
  readonly promised = new Map<string, Promised>()
  /** Per idempotency key the ids that its calls were answered. */
  readonly keys = new Map<string, Set<string>>()
  /** How executions looked when they were first seen terminal. */
  readonly terminal = new Map<string, Execution>()
  /** Processes that were deleted. */
  readonly removals: Removal[] = []
  /** Promises that contradict each other, found while they were made. */
  readonly contradictions: string[] = []

  /** Notes a promise; a later one may add to a former one of the same execution but not change it. */
  note(promise: Promised): void {
    const known = this.promised.get(promise.id)
    if (known?.status && promise.status && known.status !== promise.status)
      this.contradictions.push(
        `${promise.id} was told ${known.status} by ${known.by} and ${promise.status} by ${promise.by}`,
      )
    this.promised.set(promise.id, {
      ...promise,
      ...known,
      status: known?.status ?? promise.status,
      returnValue: known?.returnValue ?? promise.returnValue,
    })
  }

  noteKey(key: string, id: string): void {
    this.keys.set(key, (this.keys.get(key) ?? new Set()).add(id))
  }

  /** Some execution that was promised lately, for calls on it; undefined at the beginning. */
  recent(count: number): Promised[] {
    return [...this.promised.values()].slice(-count)
  }

  /** The same of executions that were born from `fromMs` on. */
  since(fromMs: number): Book {
    const part = new Book()
    for (const [id, promise] of this.promised) if (bornMs(id) >= fromMs) part.promised.set(id, promise)
    for (const [id, execution] of this.terminal) if (bornMs(id) >= fromMs) part.terminal.set(id, execution)
    for (const [key, ids] of this.keys) part.keys.set(key, ids)
    return part
  }
}

/** The instant in an id itself (UUIDv7), in milliseconds since the Unix epoch. */
export function bornMs(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}
