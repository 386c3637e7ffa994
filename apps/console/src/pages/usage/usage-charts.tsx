import { useMemo } from 'react'
import type { UsageItem } from '../../api/queries/usage.ts'
import { Chart } from '../../parts/chart.tsx'
import layout from '../../parts/layout.module.css'
import { Card } from '../../parts/page.tsx'
import { duration, size } from '../../parts/time.tsx'

const day = (at: number) => new Date(at).toISOString().slice(0, 10)
const count = (value: number) => (Number.isInteger(value) ? value.toLocaleString('en') : '')
const seconds = (value: number) => (value === 0 ? '0' : duration(value * 1000).replace(/ 0 (s|min)$/, ''))

const MINUTE_S = 60
const HOUR_S = 3600
/** The steps of an axis of seconds, which are round in minutes and hours. */
const secondSteps = [
  ...[0.001, 0.01, 0.1, 1].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_S),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000].map((hours) => hours * HOUR_S),
]

interface Props {
  items: readonly UsageItem[]
  from: string
  to: string
}

/** Runs, times and logs day by day, also of days on which nothing ran. */
export function UsageCharts({ items: known, from, to }: Props) {
  const items = useMemo(() => everyDay(known, from, to), [known, from, to])
  const data = useMemo(
    () => ({
      times: items.map(({ at }) => at),
      runs: [{ name: 'Runs', color: '--run', values: items.map(({ runs }) => runs) }],
      spent: [
        { name: 'Run time', color: '--run', values: items.map(({ runSeconds }) => runSeconds) },
        { name: 'CPU time', color: '--warn', values: items.map(({ cpuSeconds }) => cpuSeconds) },
      ],
      logs: [{ name: 'Logs', color: '--good', values: items.map(({ logBytes }) => logBytes) }],
    }),
    [items],
  )
  const { times } = data
  return (
    <div className={layout.columns}>
      <Card>
        <Chart title="Runs" look="bars" times={times} series={data.runs} format={count} formatTime={day} />
      </Card>
      <Card>
        <Chart title="Time" times={times} series={data.spent} steps={secondSteps} format={seconds} formatTime={day} />
      </Card>
      <Card>
        <Chart title="Logs" look="bars" times={times} series={data.logs} format={size} formatTime={day} />
      </Card>
    </div>
  )
}

const DAY_MS = 86_400_000
/** Beyond these the days would be thinner than a pixel. */
const MOST_DAYS = 1000

function everyDay(known: readonly UsageItem[], from: string, to: string) {
  const byDay = new Map(known.map((item) => [day(Date.parse(item.key)), item]))
  const first = Math.max(Math.floor(Date.parse(from) / DAY_MS) * DAY_MS, Date.parse(to) - MOST_DAYS * DAY_MS)
  const count = Math.max(1, Math.ceil((Date.parse(to) - first) / DAY_MS))
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * DAY_MS
    return { runs: 0, runSeconds: 0, cpuSeconds: 0, logBytes: 0, ...byDay.get(day(at)), at }
  })
}
