import { cpus, release, totalmem } from 'node:os'
import type { Lab } from '../lab.ts'
import { pinning } from '../load/run.ts'
import type { SideFigures, WorkloadFigures } from '../plan.ts'

/** Medians of one side, with smallest and largest beside them. */
function sideJson({ about, figures }: SideFigures): Record<string, unknown> {
  const medians = Object.fromEntries(Object.entries(figures).map(([metric, { median }]) => [metric, median]))
  const spread = Object.fromEntries(Object.entries(figures).map(([metric, { min, max }]) => [metric, { min, max }]))
  return { ...medians, spread, about }
}

/** Ours divided by each other side, for each metric that both have. */
function ratios(sides: SideFigures[]): Record<string, Record<string, number>> {
  const ours = sides.find(({ kind }) => kind === 'ours')
  const others = sides.filter(({ kind }) => kind !== 'ours')
  return Object.fromEntries(
    others.map(({ name, figures }) => [
      name,
      Object.fromEntries(
        Object.entries(figures).flatMap(([metric, { median }]) => {
          const own = ours?.figures[metric]?.median
          return own === undefined || median === 0 ? [] : [[metric, own / median]]
        }),
      ),
    ]),
  )
}

/** The whole result as one JSON value. */
export function reportJson(measured: WorkloadFigures[], { effort }: Lab): unknown {
  const workloads = measured.map(({ workload, sides, goals }) => {
    const only = (kind: string) => sides.filter((side) => side.kind === kind)
    const [ours] = only('ours')
    const [floor, ...furtherFloors] = only('floor')
    return [
      workload.id,
      {
        title: workload.title,
        ...(ours && { ours: sideJson(ours) }),
        ...(floor && { floor: sideJson(floor) }),
        ...Object.fromEntries(furtherFloors.map((side) => [side.name, sideJson(side)])),
        peers: Object.fromEntries(only('peer').map((side) => [side.name, sideJson(side)])),
        ratios: ratios(sides),
        goals: goals.map(({ text, met }) => ({ text, met: met ?? null })),
      },
    ]
  })
  return { machine: machine(), effort, workloads: Object.fromEntries(workloads) as unknown }
}

/** What it was measured on. */
export function machine(): Record<string, unknown> {
  return {
    processors: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    load: pinning(),
    postgres: '18, the settings of the embedded server, fsync on',
    measuredAt: new Date().toISOString(),
  }
}
