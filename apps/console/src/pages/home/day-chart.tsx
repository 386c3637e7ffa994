import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useStatistics } from '../../api/queries/executions.ts'
import { Chart } from '../../parts/chart.tsx'
import { Card } from '../../parts/page.tsx'
import { useNow } from '../../parts/time.tsx'
import { failedIn, HOUR_MS, lastDay } from '../../rules/last-day.ts'
import { clockOf } from '../../rules/local-times.ts'

/** The executions of the last day by the hour in which they ended; dragging leads to those of a time. */
export function DayChart({ team }: { team: string }) {
  const navigate = useNavigate()
  const hour = Math.floor(useNow() / HOUR_MS) * HOUR_MS
  const { data } = useStatistics(team, { ...lastDay(hour), bucket: 'hour' })
  const { times, series } = useMemo(() => {
    const points = data?.series[0]?.points ?? []
    const failed = points.map(failedIn)
    return {
      times: points.map(({ at }) => Date.parse(at)),
      series: [
        { name: 'Ended', color: '--good', values: points.map(({ finished }, at) => finished + (failed[at] ?? 0)) },
        { name: 'Failed', color: '--bad', values: failed },
      ],
    }
  }, [data])
  return (
    <Card>
      <Chart
        title="Executions in 24 hours"
        times={times}
        series={series}
        formatTime={clockOf}
        look="bars"
        height={150}
        onBrush={(from, to) =>
          void navigate({
            to: '/t/$team/executions',
            params: { team },
            search: { from: new Date(from).toISOString(), to: new Date(to).toISOString() },
          })
        }
      />
    </Card>
  )
}
