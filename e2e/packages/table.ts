import type { Outcome } from './trial.ts'

/** One line on a package. */
export function lineOf({ language, name, version = '', installMs, runsMs = [], fault }: Outcome): string {
  const [first, second] = runsMs
  const cells = [
    language.toLowerCase().padEnd(10),
    name.padEnd(20),
    version.padEnd(14),
    (installMs === undefined ? '' : (installMs / 1000).toFixed(1)).padStart(9),
    `${first ?? ''}`.padStart(8),
    `${second ?? ''}`.padStart(8),
  ]
  return `${cells.join('  ')}  ${fault === undefined ? 'works' : `FAILS ${fault.replaceAll('\n', '\n    ').slice(0, 3000)}`}`
}

export const heading = [
  'language'.padEnd(10),
  'package'.padEnd(20),
  'version'.padEnd(14),
  'install s'.padStart(9),
  '1st ms'.padStart(8),
  '2nd ms'.padStart(8),
].join('  ')

/** How many work, and what the median package takes, in a line for each language. */
export function summaryOf(outcomes: Outcome[]): string {
  const lines = [...new Set(outcomes.map(({ language }) => language))].map((wanted) => {
    const all = outcomes.filter(({ language }) => language === wanted)
    const works = all.filter(({ fault }) => fault === undefined)
    const seconds = (median(works.map(({ installMs = 0 }) => installMs)) / 1000).toFixed(1)
    const [first, second] = [0, 1].map((index) => median(works.map(({ runsMs = [] }) => runsMs[index] ?? 0)))
    const times = `half are installed within ${seconds} s, and run within ${first} ms, the second time ${second} ms`
    return `${wanted.toLowerCase()}: ${works.length} of ${all.length} work; ${times}`
  })
  const failed = outcomes.filter(({ fault }) => fault !== undefined).length
  return [...lines, `${outcomes.length - failed} passed, ${failed} failed`].join('\n')
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
