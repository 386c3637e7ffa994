import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'
import type { Where } from './attempt.ts'
import { missing, type Means } from './means.ts'

/** An isolation level that may be had here, by the settings that force it. */
export interface KnownLevel {
  name: string
  refuses: Where[]
  needs: Means[]
  settings: Record<string, string>
}

export const levels: KnownLevel[] = [
  {
    name: 'namespaces with its own network',
    refuses: ['every level', 'namespaces', 'own'],
    needs: ['namespaces', 'own network'],
    settings: { ISOLATION: 'namespaces', ISOLATION_NETWORK: 'own' },
  },
  {
    name: 'namespaces on the network of the host',
    refuses: ['every level', 'namespaces'],
    needs: ['namespaces', 'Landlock for ports'],
    settings: { ISOLATION: 'namespaces', ISOLATION_NETWORK: 'host' },
  },
  { name: 'pod', refuses: ['every level'], needs: ['Landlock'], settings: { ISOLATION: 'pod' } },
]

/** Of tests at this isolation level; says why they are left out where the machine does not give it. */
export function titleOf({ name, needs }: KnownLevel): string {
  const why = missing(needs)
  return why === undefined ? `behind ${name}` : `behind ${name} (not here: ${why})`
}

/**
 * A runner at this isolation level, or undefined where the machine does not give it. Rejects when it does, and the isolation
 * does not hold.
 */
export async function startBehind(
  level: KnownLevel,
  settings: Record<string, string>,
): Promise<RunnerUnderTest | undefined> {
  return missing(level.needs) === undefined ? startRunner({ ...settings, ...level.settings }) : undefined
}
