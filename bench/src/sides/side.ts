import type { Lab } from '../lab.ts'
import type { Sample } from '../statistics.ts'

/** What a side promises, so that nobody compares unlike things unknowingly. */
export interface About {
  software: string
  isolation: string
  durability: string
}

/** One side of a comparison: starts, is warmed up, measured once, and is gone afterwards. Throws on a wrong answer. */
export interface Side {
  name: string
  kind: 'ours' | 'floor' | 'peer'
  about: About
  measure(lab: Lab): Promise<Sample>
}

/** Medians by side and metric; undefined where that was not measured. */
export type Medians = (side: string, metric: string) => number | undefined

export interface Goal {
  text: string
  /** Undefined where a side that it speaks of was not measured. */
  met: boolean | undefined
}

export interface Workload {
  id: string
  title: string
  /** The metric that the picture shows, and whether more is better. */
  shown: { metric: string; unit: string; moreIsBetter: boolean }
  /** Left out of a smoke test that does not name it. */
  isLong?: boolean
  sides: Side[]
  goals(median: Medians): Goal[]
}

/** A goal of the form "a is at most (or at least) factor times b"; open while one of them is missing. */
export function goal(text: string, a: number | undefined, relation: '<=' | '>=', b: number | undefined): Goal {
  if (a === undefined || b === undefined) return { text, met: undefined }
  return { text, met: relation === '<=' ? a <= b : a >= b }
}

/** A number times a factor, undefined staying undefined. */
export function times(factor: number, value: number | undefined): number | undefined {
  return value === undefined ? undefined : factor * value
}
