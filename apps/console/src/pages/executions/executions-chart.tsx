import { useMemo } from 'react'
import { useStatistics } from '../../api/queries/executions.ts'
import { Chart } from '../../parts/chart.tsx'
import { useNow } from '../../parts/time.tsx'
import type { ExecutionsSearch } from '../../rules/execution-filters.ts'
import { bucketOf, spanOf } from '../../rules/spans.ts'
import styles from './executions.module.css'

interface Props {
  team: string
  search: ExecutionsSearch
  processId: string | undefined
  isWaiting: boolean
  onChange: (next: Partial<ExecutionsSearch>) => void
}

const HOUR_MS = 3_600_000
const spans = [
  ['1 h', HOUR_MS],
  ['24 h', 24 * HOUR_MS],
  ['7 d', 168 * HOUR_MS],
  ['30 d', 720 * HOUR_MS],
] as const

/** How many executions ended over time; dragging over it, or its buttons, narrow the list to a time. */
export function ExecutionsChart({ team, search, processId, isWaiting, onChange }: Props) {
  const minute = Math.floor(useNow() / 60_000) * 60_000
  const span = spanOf(search, minute)
  const bucket = bucketOf(span)
  const statistics = useStatistics(
    team,
    { from: new Date(span.fromMs).toISOString(), to: new Date(span.toMs).toISOString(), bucket, processId },
    !isWaiting,
  )
  const { times, series, total } = useMemo(() => {
    const points = statistics.data?.series[0]?.points ?? []
    const failed = points.map(({ error, killed, rejected }) => error + killed + rejected)
    const ended = points.map(({ finished }, at) => finished + (failed[at] ?? 0))
    return {
      times: points.map(({ at }) => Date.parse(at)),
      total: { ended: sum(ended), failed: sum(failed) },
      series: [
        { name: 'Ended', color: '--good', values: ended },
        { name: 'Failed', color: '--bad', values: failed },
      ],
    }
  }, [statistics.data])
  const uncounted = uncountedIn(search)
  const narrow = (fromMs: number, toMs: number) =>
    onChange({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() })
  return (
    <div className={styles.chart}>
      <div className={styles.spans} role="group" aria-label="Time">
        {spans.map(([word, ms]) => (
          <button
            key={word}
            type="button"
            onClick={() => onChange({ from: new Date(minute - ms).toISOString(), to: undefined })}
          >
            {word}
          </button>
        ))}
        {(search.from ?? search.to) !== undefined && (
          <button type="button" onClick={() => onChange({ from: undefined, to: undefined })}>
            any time
          </button>
        )}
        {statistics.data && (
          <span className={styles.soft}>
            {total.ended.toLocaleString('en')} ended, {total.failed.toLocaleString('en')} of them failed
            {uncounted.length > 0 && `; counted without ${uncounted.join(', ')}`}
          </span>
        )}
      </div>
      <Chart
        title={`Executions by ${bucket}`}
        times={times}
        series={series}
        look="bars"
        height={130}
        onBrush={narrow}
      />
    </div>
  )
}

/** Names of what the list is filtered by, and the statistics are not. */
function uncountedIn({ q, name, status, origin, version, schedule, trial }: ExecutionsSearch): string[] {
  const filters = [
    ['the search', q ?? name],
    ['Status', status],
    ['Started by', origin],
    ['Version', version],
    ['the schedule', schedule],
    ['Trials', trial === 'true' ? trial : undefined],
  ] as const
  return filters.flatMap(([words, value]) => (value === undefined ? [] : [words]))
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
