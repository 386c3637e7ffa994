import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useStatistics } from '../../api/queries/executions.ts'
import { useProcessNames } from '../../api/queries/home.ts'
import { Answer } from '../../parts/page-states.tsx'
import { Card } from '../../parts/page.tsx'
import { SparkBars } from '../../parts/spark-bars.tsx'
import { useNow } from '../../parts/time.tsx'
import { failedIn, HOUR_MS, lastDay, sum } from '../../rules/last-day.ts'
import styles from './home.module.css'

const SHOWN = 6

/** The processes with the most failures of the last day. */
export function FailingProcesses({ team }: { team: string }) {
  const hour = Math.floor(useNow() / HOUR_MS) * HOUR_MS
  const { from, to } = lastDay(hour)
  const statistics = useStatistics(team, { from, to, bucket: 'hour', by: 'process' })
  const failing = useMemo(
    () =>
      (statistics.data?.series ?? [])
        .map(({ key, points }) => ({
          id: key,
          failed: sum(points.map(failedIn)),
          ended: sum(points.map((point) => point.finished + failedIn(point))),
          bars: points.map((point) => ({ good: point.finished, bad: failedIn(point) })),
        }))
        .filter(({ failed }) => failed > 0)
        .toSorted((a, b) => b.failed - a.failed)
        .slice(0, SHOWN),
    [statistics.data],
  )
  const names = useProcessNames(
    team,
    failing.map(({ id }) => id),
  )
  return (
    <Card title="Failing processes, 24 hours">
      <Answer of={statistics} what="failures by process">
        {() =>
          failing.length === 0 ? (
            <p className={styles.soft}>No process has failed.</p>
          ) : (
            <ul className={styles.list}>
              {failing.map(({ id, failed, ended, bars }) => {
                const process = names.get(id)
                return (
                  <li key={id}>
                    {process === undefined ? (
                      <span className={styles.soft}>a process that is gone</span>
                    ) : (
                      <Link
                        to="/t/$team/executions"
                        params={{ team }}
                        search={{ process: process.slug, status: 'ERROR,KILLED,REJECTED', trial: 'false', from }}
                        className={styles.name}
                      >
                        {process.name}
                      </Link>
                    )}
                    <span className={styles.end}>
                      <SparkBars of={bars} />
                      <span>
                        <strong className={styles.bad}>{failed.toLocaleString('en')}</strong> of{' '}
                        {ended.toLocaleString('en')}
                      </span>
                    </span>
                  </li>
                )
              })}
            </ul>
          )
        }
      </Answer>
    </Card>
  )
}
