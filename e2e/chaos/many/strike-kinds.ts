import type { Random } from '@automation/testing/random'
import type { ManySystem } from './many-system.ts'
import { clock, freeze, kill, roll } from './replica-strikes.ts'
import { names, partition, slow } from './link-strikes.ts'
import { connections, disk, promote } from './database-strikes.ts'
import { controller, s3 } from './server-strikes.ts'

/** What was struck, in a few words, and how it is mended. */
export interface Struck {
  what: string
  mend(): Promise<void>
}

/** What callers wait for: accepted calls, callbacks of runs that have ended, objects that are stored. */
export type Awaited = 'calls' | 'callbacks' | 'objects'

export interface StrikeKind {
  /** What a caller may notice, in a few words. */
  seen: string
  /**
   * The longest time without one that is let pass, in milliseconds: generous, for machines that do much else. Each comes
   * again before the strike is over.
   */
  boundsMs: { calls: number } & Partial<Record<Awaited, number>>
  /** How long it lasts, in milliseconds; 0: it is over when it has hit. */
  lastsMs: readonly [number, number]
  /** Why this system can't be struck so; undefined where it can. */
  lacks?(system: ManySystem): string | undefined
  hit(system: ManySystem, random: Random): Promise<Struck>
}

/** Every kind of strike on a system of many replicas, by the name that `--kinds` takes. */
export const strikeKinds: Readonly<Record<string, StrikeKind>> = {
  kill,
  freeze,
  partition,
  slow,
  roll,
  promote,
  connections,
  names,
  clock,
  controller,
  s3,
  disk,
}

/** So many names of kinds: each comes once before one comes again. */
export function planKinds(kinds: readonly string[], count: number, random: Random): string[] {
  const planned: string[] = []
  while (planned.length < count) {
    const left = [...kinds]
    while (left.length > 0) planned.push(...left.splice(random.between(0, left.length - 1), 1))
  }
  return planned.slice(0, count)
}
