import { Failure } from '@automation/errors'
import { startRunner, type RunnerUnderTest } from '../runner-under-test.ts'
import type { Where } from './attempt.ts'

/** A wall that may be had here, by the settings that force it. */
export interface KnownWall {
  name: string
  refuses: Where[]
  settings: Record<string, string>
}

export const walls: KnownWall[] = [
  {
    name: 'namespaces with its own network',
    refuses: ['every wall', 'namespaces', 'own'],
    settings: { WALL: 'namespaces', WALL_NETWORK: 'own' },
  },
  {
    name: 'namespaces on the network of the host',
    refuses: ['every wall', 'namespaces'],
    settings: { WALL: 'namespaces', WALL_NETWORK: 'host' },
  },
  { name: 'pod', refuses: ['every wall'], settings: { WALL: 'pod' } },
]

/** A runner behind this wall, or undefined where the machine does not give it. */
export async function startBehind(
  wall: KnownWall,
  settings: Record<string, string>,
): Promise<RunnerUnderTest | undefined> {
  try {
    return await startRunner({ ...settings, ...wall.settings })
  } catch (error) {
    if (error instanceof Failure && error.code === 'wall_does_not_hold') return undefined
    throw error
  }
}
