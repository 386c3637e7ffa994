import { usedPartOfGroup } from '@automation/jail'
import type { Child } from './child.ts'
import type { Group } from './group.ts'
import type { Spares } from './spares.ts'
import { firstToGo, memoryOf, usualMb } from './retirement.ts'

/**
 * Of the memory of the runner's group, a pod's for instance: beyond, the kernel may soon end the runner. It holds as much for
 * a small child as the child's processes show.
 */
const fullPart = 0.8

/** The children that share the memory. */
export interface Sharers {
  children: ReadonlySet<Child>
  /** Which group each works for; spares for none. */
  groupOf: ReadonlyMap<Child, Group>
  spares: ReadonlyMap<string, Spares>
}

/** Whether there is memory for one more child, and which one ends where there is none. */
export class MemoryBudget {
  readonly #limitMb: number
  readonly #sharers: Sharers

  constructor(limitMb: number, sharers: Sharers) {
    this.#limitMb = limitMb
    this.#sharers = sharers
  }

  /** Whether another fits beside those that are being launched. */
  isThere(launching: number): boolean {
    const { children } = this.#sharers
    const isWithin = () => memoryOf(children) + usualMb * (1 + launching) <= this.#limitMb
    return children.size === 0 || (isWithin() && usedPartOfGroup() < fullPart)
  }

  /** Somebody ends whom nobody wants now. */
  make(): void {
    const { children, groupOf, spares } = this.#sharers
    const idle = firstToGo(children, (child) => groupOf.get(child)?.program.team ?? '')
    if (idle !== undefined) return idle.end('kill')
    for (const each of spares.values()) each.giveUp()?.end('kill')
  }

  /** The group whose turn it is to get a child: teams that have few at work come first. */
  next({ demand }: Spares): Group | undefined {
    return demand.count === 0 ? undefined : demand.next((team) => this.#atWork(team))
  }

  /** Who has no child at work gets one all the same, or those that came first could keep all others from running. */
  isOwed(spares: Spares): boolean {
    const next = this.next(spares)
    return next !== undefined && this.#atWork(next.program.team) === 0
  }

  #atWork(team: string): number {
    let count = 0
    for (const [{ state, task }, { program }] of this.#sharers.groupOf)
      // Runs that wait for others must not keep those from a child.
      if (state === 'running' && program.team === team && task?.isWaiting !== true) count += 1
    return count
  }
}
