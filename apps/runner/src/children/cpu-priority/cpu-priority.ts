import type { CpuGroups, Process } from '@automation/jail'
import type { Child } from '../child.ts'
import type { Spares } from '../spares.ts'
import { CpuPriorityByGroups } from './by-groups.ts'
import { CpuPriorityByNiceness } from './by-niceness.ts'

/** Runs that compute for longer than a moment get a lower CPU priority than those of others, which mostly are short. */
export interface CpuPriority {
  /** Somebody waits for one of those that are on their way. */
  hurryStarting(children: Iterable<Child>, which: Spares): void
  /** Those that are to be gone, and those that have been on their way for long. */
  hurryLate(children: Iterable<Child>): void
  /** It begins a run of a program. */
  begins(child: Child, program: string): void
  /** Looks at a run that has been on for a while; all processes of the machine are given. */
  look(child: Child, processes: Map<number, Process[]>): void
  /** Its run is over: gives the child back what it had. False when it can't be given. */
  putBack(child: Child): boolean
}

/** By groups where each child has one; a child is so far below its launcher. */
export function chooseCpuPriority(groups: CpuGroups | undefined, depth: number): CpuPriority {
  return groups === undefined ? new CpuPriorityByNiceness(depth) : new CpuPriorityByGroups(groups)
}
