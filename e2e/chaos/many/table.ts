import type { Violation } from '../invariants.ts'
import type { Hit } from './campaign.ts'
import { strikeKinds } from './strike-kinds.ts'

export interface KindResult {
  kind: string
  strikes: number
  /** The longest time without an accepted call, and what is let pass, in milliseconds. */
  longestGapMs: number
  boundMs: number
}

export function resultsOf(hits: readonly Hit[]): KindResult[] {
  return [...Map.groupBy(hits, ({ kind }) => kind)].map(([kind, all]) => ({
    kind,
    strikes: all.length,
    longestGapMs: Math.round(Math.max(...all.map(({ gapMs }) => gapMs))),
    boundMs: strikeKinds[kind]!.boundMs,
  }))
}

/** Each kind in a line: how often, the longest time without an accepted call, its bound. */
export function tableOf(results: readonly KindResult[]): string {
  const rows = results.map(({ kind, strikes, longestGapMs, boundMs }) => [
    kind.padEnd(14),
    `${strikes}`.padStart(8),
    `${(longestGapMs / 1000).toFixed(1)} s`.padStart(28),
    `${boundMs / 1000} s`.padStart(8),
    longestGapMs > boundMs ? '  PASSED' : '',
  ])
  return [
    ['strike'.padEnd(14), ' strikes', '    longest without a call', '   bound'].join(''),
    ...rows.map((row) => row.join('')),
  ].join('\n')
}

/** How many accepted runs are not there, and how many were done twice. */
export function lossesOf(violations: readonly Violation[]): { lost: number; doubled: number } {
  const of = (pattern: RegExp) => violations.filter(({ rule }) => pattern.test(rule)).length
  return { lost: of(/^I4 /), doubled: of(/^(I3 code starts at most once|one execution per key|I8 )/) }
}
