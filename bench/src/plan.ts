import type { Lab } from './lab.ts'
import type { About, Goal, Side, Workload } from './sides/side.ts'
import { spreads, type Sample, type Spread } from './statistics.ts'

export interface SideFigures {
  name: string
  kind: Side['kind']
  about: About
  /** By metric, over the repeats. */
  figures: Record<string, Spread>
}

export interface WorkloadFigures {
  workload: Workload
  sides: SideFigures[]
  goals: Goal[]
}

/** Measures every side once per repeat, in alternation (A B C A B C), one system at a time. */
export async function measure(workload: Workload, lab: Lab, tell: (line: string) => void): Promise<WorkloadFigures> {
  const sides = workload.sides.filter(({ kind }) => kind !== 'peer' || lab.peers !== undefined)
  const samples = new Map<string, Sample[]>(sides.map(({ name }) => [name, []]))
  for (let repeat = 1; repeat <= lab.effort.repeats; repeat += 1) {
    for (const { name, measure: measureOnce } of sides) {
      const sample = await measureOnce(lab)
      await lab.rest()
      samples.get(name)?.push(sample)
      tell(`${workload.id} ${repeat}/${lab.effort.repeats} ${name.padEnd(16)} ${inWords(sample)}`)
    }
  }
  const measured = sides.map(({ name, kind, about }) => ({
    name,
    kind,
    about,
    figures: spreads(samples.get(name) ?? []),
  }))
  const median = (side: string, metric: string) => measured.find(({ name }) => name === side)?.figures[metric]?.median
  return { workload, sides: measured, goals: lab.effort.smoke ? [] : workload.goals(median) }
}

function inWords(sample: Sample): string {
  return Object.entries(sample)
    .map(([metric, value]) => `${metric} ${rounded(value)}`)
    .join('  ')
}

/** Three digits that count. */
export function rounded(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
