import { rounded, type SideFigures, type WorkloadFigures } from '../plan.ts'

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
