import { cpus, release, totalmem } from 'node:os'
import type { Lab } from '../lab.ts'
import { pinning } from '../load/run.ts'
import { type SideFigures, type WorkloadFigures, rounded } from '../plan.ts'

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
    const [ours, ...furtherOurs] = only('ours')
    const [floor, ...furtherFloors] = only('floor')
    return [
      workload.id,
      {
        title: workload.title,
        ...(ours && { ours: sideJson(ours) }),
        ...(floor && { floor: sideJson(floor) }),
        ...Object.fromEntries([...furtherOurs, ...furtherFloors].map((side) => [side.name, sideJson(side)])),
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

/** The figures as text: a block for each workload, sides as rows, `median (min–max)` in the cells. */
export function table(measured: WorkloadFigures[]): string {
  return measured.map(block).join('\n\n')
}

function block({ workload, sides, goals }: WorkloadFigures): string {
  const metrics = [...new Set(sides.flatMap(({ figures }) => Object.keys(figures)))]
  const rows = [['', ...metrics], ...sides.map((side) => [side.name, ...metrics.map((metric) => cell(side, metric))])]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const promises = sides.map(
    ({ name, about }) => `  ${name}: ${about.software}; ${about.isolation}; ${about.durability}`,
  )
  const words = { true: 'met', false: 'MISSED', undefined: 'not measured' }
  const ends = goals.map(({ text, met }) => `  [${words[String(met) as keyof typeof words]}] ${text}`)
  return [`${workload.id}  ${workload.title}`, ...lines.map((line) => `  ${line}`), ...promises, ...ends].join('\n')
}

function cell({ figures }: SideFigures, metric: string): string {
  const figure = figures[metric]
  if (figure === undefined) return '-'
  const { median, min, max } = figure
  return min === max ? rounded(median) : `${rounded(median)} (${rounded(min)}–${rounded(max)})`
}
