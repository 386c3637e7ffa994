import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { clockOf, dayOf } from '../rules/local-times.ts'
import type { ChartProps, Series } from './chart.tsx'

interface Props extends ChartProps {
  height: number
  format: (value: number) => string
}

/** The picture of a chart, drawn anew when the data, the width or the theme change. */
export default function ChartCanvas({ times, series, format, steps, look = 'lines', height, onBrush }: Props) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (element === null) return
    let plot: uPlot | undefined
    const draw = () => {
      plot?.destroy()
      const options = optionsOf({ element, times, series, format, steps, look, height, onBrush })
      const data = [times.map((at) => at / 1000), ...series.map(({ values }) => [...values])] as uPlot.AlignedData
      plot = new uPlot(options, data, element)
    }
    draw()
    const width = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }))
    width.observe(element)
    const theme = new MutationObserver(draw)
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', draw)
    return () => {
      width.disconnect()
      theme.disconnect()
      system.removeEventListener('change', draw)
      plot?.destroy()
    }
  }, [times, series, format, steps, look, height, onBrush])
  return <div ref={place} />
}

function optionsOf({
  element,
  times,
  series,
  format,
  steps = isWhole(series) ? wholeSteps : undefined,
  look = 'lines',
  height,
  onBrush,
}: Omit<Props, 'title'> & { element: HTMLElement }): uPlot.Options {
  const color = (name: string) => resolved(element, name)
  const axis = { stroke: color('--text-soft'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } }
  const bars = uPlot.paths.bars?.({ size: [0.7, 48] })
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: onBrush !== undefined, y: false, setScale: false } },
    scales: {
      x: { range: () => rangeOf(times) },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      { ...axis, size: 34, values: (_plot, seconds) => seconds.map(timeWords) },
      {
        ...axis,
        size: (_plot, words) => widthOf(words ?? []),
        values: (_plot, values) => values.map(format),
        ...(steps && { incrs: [...steps] }),
      },
    ],
    series: [
      {},
      ...series.map(({ name, color: variable }) => ({
        label: name,
        stroke: color(variable),
        width: look === 'bars' ? 0 : 2,
        points: { show: look === 'lines' && series.every(({ values }) => values.length < 40) },
        ...(look === 'bars' && { fill: color(variable), paths: bars }),
      })),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width } = plot.select
          if (width < 4) return
          onBrush?.(plot.posToVal(left, 'x') * 1000, plot.posToVal(left + width, 'x') * 1000)
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        },
      ],
    },
  }
}

/** The steps of an axis of counts, which have no halves. */
const wholeSteps = [1, 2, 5]
  .flatMap((digit) => Array.from({ length: 12 }, (_, power) => digit * 10 ** power))
  .toSorted((a, b) => a - b)

const isWhole = (series: readonly Series[]): boolean =>
  series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))

/** A time as an axis has it: the day where a day or the axis begins, else the clock of 24 hours. */
function timeWords(second: number, index: number, all: readonly number[]): string {
  const at = new Date(second * 1000)
  if (all.every((one) => new Date(one * 1000).getHours() === 0)) return dayOf(second * 1000)
  const isNewDay = index === 0 || at.toDateString() !== new Date((all[index - 1] ?? 0) * 1000).toDateString()
  const clock = clockOf(second * 1000)
  return isNewDay ? `${clock}\n${dayOf(second * 1000)}` : clock
}

/** From half a bucket before the first to half a bucket behind the last, in seconds. */
function rangeOf(times: readonly number[]): [number, number] {
  const [first = 0, second = first + 86_400_000] = times
  const half = (second - first) / 2
  return [(first - half) / 1000, ((times.at(-1) ?? first) + half) / 1000]
}

/** The colour that a variable has in the present theme; a canvas knows no variables. */
function resolved(element: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Of the axis of values, in pixels: so much that none of its words is cut, as `13 min 20 s` would be. */
const widthOf = (words: readonly string[]): number => Math.max(48, ...words.map((word) => 20 + 7 * word.length))
