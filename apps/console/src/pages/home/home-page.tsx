import { useParams, Link } from '@tanstack/react-router'
import { useStatistics } from '../../api/queries/executions.ts'
import { useLastFailures } from '../../api/queries/home.ts'
import { useProcessSummaries } from '../../api/queries/processes.ts'
import { useLimits } from '../../api/queries/team.ts'
import { Page, Card } from '../../parts/page.tsx'
import { Answer } from '../../parts/page-states.tsx'
import { useNow, Time } from '../../parts/time.tsx'
import { HOUR_MS, lastDay } from '../../rules/last-day.ts'
import { ComingFirings } from './coming-firings.tsx'
import { DayChart } from './day-chart.tsx'
import { FailingProcesses } from './failing-processes.tsx'
import { FirstVisit } from './first-visit.tsx'
import { InUse } from './in-use.tsx'
import styles from './home.module.css'

/** Whether all is well: what runs, what failed, what comes. Teams without processes are shown a way to begin. */
export function HomePage() {
  const { team } = useParams({ from: '/t/$team/' })
  const first = useProcessSummaries(team, { limit: 1 })
  useAskEarly(team)
  return (
    <Page title="Home" call={{ path: '/processes/summaries' }}>
      <Answer of={first} what="overview">
        {({ total }) => (total === 0 ? <FirstVisit team={team} /> : <Overview team={team} />)}
      </Answer>
    </Page>
  )
}

/** Asks beside the first answer for what the cards show: on a slow connection each answer that waits for another is seen. */
function useAskEarly(team: string): void {
  const hour = Math.floor(useNow() / HOUR_MS) * HOUR_MS
  useLimits(team)
  useLastFailures(team)
  useStatistics(team, { ...lastDay(hour), bucket: 'hour' })
  useStatistics(team, { ...lastDay(hour), bucket: 'hour', by: 'process' })
}

function Overview({ team }: { team: string }) {
  return (
    <>
      <InUse team={team} />
      <DayChart team={team} />
      <div className={styles.columns}>
        <LastFailures team={team} />
        <FailingProcesses team={team} />
        <ComingFirings team={team} />
      </div>
    </>
  )
}

/** The newest executions that failed, with what they failed of. */
function LastFailures({ team }: { team: string }) {
  const failures = useLastFailures(team)
  return (
    <Card title="Last failures">
      <Answer of={failures} what="last failures">
        {(rows) =>
          rows.length === 0 ? (
            <p className={styles.soft}>Nothing has failed.</p>
          ) : (
            <ul className={styles.list}>
              {rows.map(({ id, processName, error, timeline, createdAt }) => (
                <li key={id} className={styles.failure}>
                  <Link
                    to="/t/$team/executions/$executionId"
                    params={{ team, executionId: id }}
                    className={styles.name}
                    preload={false}
                  >
                    {processName}
                  </Link>
                  <span className={styles.soft}>
                    <Time at={createdAt} />
                  </span>
                  <span className={styles.reason}>
                    {error === undefined ? (timeline.explanation ?? 'Rejected') : `${error.name}: ${error.message}`}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Card>
  )
}
