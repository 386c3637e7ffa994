import { useParams } from '@tanstack/react-router'
import { useProcessSummaries } from '../../api/queries/processes.ts'
import { Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/page-states.tsx'
import { ComingFirings } from './coming-firings.tsx'
import { DayChart } from './day-chart.tsx'
import { FailingProcesses } from './failing-processes.tsx'
import { FirstVisit } from './first-visit.tsx'
import { InUse } from './in-use.tsx'
import { LastFailures } from './last-failures.tsx'
import styles from './home.module.css'

/** Whether all is well: what runs, what failed, what comes. Teams without processes are shown a way to begin. */
export function HomePage() {
  const { team } = useParams({ from: '/t/$team/' })
  const first = useProcessSummaries(team, { limit: 1 })
  return (
    <Page title="Home">
      <Answer of={first} what="overview">
        {({ total }) => (total === 0 ? <FirstVisit team={team} /> : <Overview team={team} />)}
      </Answer>
    </Page>
  )
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
