import type { Violation } from '../invariants.ts'
import type { Hit } from './campaign.ts'
import { strikeKinds, type Awaited } from './strike-kinds.ts'

export interface KindResult {
  kind: string
  strikes: number
  without: Awaited
  /** The longest time without one, and what is let pass, in milliseconds. */
  longestGapMs: number
  boundMs: number
}

export function resultsOf(hits: readonly Hit[]): KindResult[] {
  return [...Map.groupBy(hits, ({ kind }) => kind)].flatMap(([kind, all]) =>
    (Object.entries(strikeKinds[kind]!.boundsMs) as [Awaited, number][]).map(([without, boundMs]) => ({
      kind,
      strikes: all.length,
      without,
      longestGapMs: Math.round(Math.max(...all.map(({ gapsMs }) => gapsMs[without]))),
      boundMs,
    })),
  )
}

/** Each kind in a line for what callers wait for: how often it was, the longest time without, its bound. */
export function tableOf(results: readonly KindResult[]): string {
  const rows = results.map(({ kind, strikes, without, longestGapMs, boundMs }) => [
    kind.padEnd(14),
    `${strikes}`.padStart(8),
    `  ${without.padEnd(9)}`,
    `${(longestGapMs / 1000).toFixed(1)} s`.padStart(15),
    `${boundMs / 1000} s`.padStart(8),
    longestGapMs > boundMs ? '  PASSED' : '',
  ])
  return [
    ['strike'.padEnd(14), ' strikes', '  longest without'.padEnd(26), '   bound'].join(''),
    ...rows.map((row) => row.join('')),
  ].join('\n')
}

/** How many accepted runs are not there, and how many were done twice. */
export function lossesOf(violations: readonly Violation[]): { lost: number; doubled: number } {
  const of = (pattern: RegExp) => violations.filter(({ rule }) => pattern.test(rule)).length
  return { lost: of(/^I4 /), doubled: of(/^(I3 code starts at most once|one execution per key|I8 )/) }
}
