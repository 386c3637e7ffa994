import { rounded, type WorkloadFigures } from '../plan.ts'

const colours = { ours: '#2563eb', floor: '#9ca3af', peer: '#f59e0b' }
const row = 26
const left = 150
const barWidth = 420
const width = 760

/** The shown metric of each workload as horizontal bars, with smallest and largest as a thin line. */
export function picture(measured: WorkloadFigures[]): string {
  let top = 10
  const parts = measured.map((figures) => {
    const part = `<g transform="translate(0 ${top})">${chart(figures)}</g>`
    top += figures.sides.length * row + 66
    return part
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" viewBox="0 0 ${width} ${top}" font-family="system-ui, sans-serif" font-size="13"><rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>\n`
}

function chart({ workload, sides }: WorkloadFigures): string {
  const { metric, unit, moreIsBetter } = workload.shown
  const largest = Math.max(...sides.map(({ figures }) => figures[metric]?.max ?? 0)) || 1
  const x = (value: number) => left + (value / largest) * barWidth
  const bars = sides.map(({ name, kind, figures }, index) => {
    const figure = figures[metric]
    if (figure === undefined) return ''
    const y = 44 + index * row
    return [
      text(left - 8, y + 13, name, 'end'),
      `<rect x="${left}" y="${y}" width="${x(figure.median) - left}" height="16" fill="${colours[kind]}"/>`,
      `<path d="M${x(figure.min)} ${y + 8}H${x(figure.max)}" stroke="#111827"/>`,
      text(x(figure.max) + 8, y + 13, rounded(figure.median), 'start'),
    ].join('')
  })
  const better = moreIsBetter ? 'more is better' : 'less is better'
  return [
    `<text x="10" y="16" font-weight="600">${escape(`${workload.id}  ${workload.title}`)}</text>`,
    text(10, 34, `${unit}; ${better}`, 'start'),
    ...bars,
  ].join('')
}

function text(x: number, y: number, words: string, anchor: 'start' | 'end'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="#374151">${escape(words)}</text>`
}

function escape(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
