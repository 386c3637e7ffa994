import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'
import type { Where } from './attempt.ts'
import { missing, type Means } from './means.ts'

/** A wall that may be had here, by the settings that force it. */
export interface KnownWall {
  name: string
  refuses: Where[]
  needs: Means[]
  settings: Record<string, string>
}

export const walls: KnownWall[] = [
  {
    name: 'namespaces with its own network',
    refuses: ['every wall', 'namespaces', 'own'],
    needs: ['namespaces', 'own network'],
    settings: { ISOLATION: 'namespaces', ISOLATION_NETWORK: 'own' },
  },
  {
    name: 'namespaces on the network of the host',
    refuses: ['every wall', 'namespaces'],
    needs: ['namespaces', 'Landlock for ports'],
    settings: { ISOLATION: 'namespaces', ISOLATION_NETWORK: 'host' },
  },
  { name: 'pod', refuses: ['every wall'], needs: ['Landlock'], settings: { ISOLATION: 'pod' } },
]

/** Of tests behind this wall; says why they are left out where the machine does not give it. */
export function titleOf({ name, needs }: KnownWall): string {
  const why = missing(needs)
  return why === undefined ? `behind ${name}` : `behind ${name} (not here: ${why})`
}

/** A runner behind this wall, or undefined where the machine does not give it. Rejects when it does, and the wall does not hold. */
export async function startBehind(
  wall: KnownWall,
  settings: Record<string, string>,
): Promise<RunnerUnderTest | undefined> {
  return missing(wall.needs) === undefined ? startRunner({ ...settings, ...wall.settings }) : undefined
}
