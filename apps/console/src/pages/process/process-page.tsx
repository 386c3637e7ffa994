import { Link, Outlet, useLocation, useParams } from '@tanstack/react-router'
import { ProblemError } from '../../api/problem.ts'
import { useLastExecution, useProcess, type Process } from '../../api/queries/processes.ts'
import { LostText } from '../../parts/lost-text.tsx'
import { PageAnswer } from '../../parts/page-answer.tsx'
import { Empty } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Tags } from '../../parts/tags.tsx'
import type { RestCall } from '../../rules/as-curl.ts'
import { languageNames } from '../../rules/languages.ts'
import { readmeId } from '../../rules/unsaved.ts'
import { useVisit } from '../../shell/visits.ts'
import styles from './process-page.module.css'

const ROUTE = '/t/$team/processes/$slug'

const tabs = [
  ['/t/$team/processes/$slug/edit', 'Edit'],
  ['/t/$team/processes/$slug/versions', 'Versions'],
  ['/t/$team/processes/$slug/webhook', 'Webhook'],
  ['/t/$team/processes/$slug/schedules', 'Schedules'],
  ['/t/$team/processes/$slug/dependencies', 'Dependencies'],
  ['/t/$team/processes/$slug/readme', 'Readme'],
  ['/t/$team/processes/$slug/settings', 'Settings'],
] as const

/** What is around the tabs of a process: its name, how it fares, the way between them. */
export function ProcessPage() {
  const { team, slug } = useParams({ from: ROUTE })
  const process = useProcess(team, slug)
  if (process.error instanceof ProblemError && process.error.problem.status === 404)
    return (
      <Page title="No such process">
        <Empty title={`There is no process ${slug}`}>
          <p>It was deleted, or it has another slug now.</p>
          <Link to="/t/$team/processes" params={{ team }}>
            All processes
          </Link>
        </Empty>
        {process.data && (
          <>
            <LostText team={team} id={process.data.record.id} what="source" />
            <LostText team={team} id={readmeId(process.data.record.id)} what="readme" />
          </>
        )}
      </Page>
    )
  return (
    <PageAnswer of={process} what="process">
      {({ record }) => <Present team={team} slug={slug} process={record} />}
    </PageAnswer>
  )
}

function Present({ team, slug, process }: { team: string; slug: string; process: Process }) {
  const { name } = process
  useVisit({ team, kind: 'process', id: slug, name })
  const tab = useLocation({ select: ({ pathname }) => pathname.split('/').at(-1) })
  return (
    <Page
      title={name}
      note={<Note team={team} process={process} />}
      call={callOf(tab, process)}
      actions={
        <Link to="/t/$team/executions" params={{ team }} search={{ process: slug }} className={styles.last}>
          Executions
        </Link>
      }
      tabs={
        <Tabs label="Process">
          {tabs.map(([to, word]) => (
            <Link key={to} to={to} params={{ team, slug }} activeOptions={{ includeSearch: false }}>
              {word}
            </Link>
          ))}
        </Tabs>
      }
    >
      <Outlet />
    </Page>
  )
}

/** The call that reads what a tab shows; the editor and the webhook have calls of their own, which do something. */
function callOf(tab: string | undefined, { id, slug }: Process): RestCall | undefined {
  if (tab === 'edit' || tab === 'webhook') return undefined
  if (tab === 'schedules') return { path: '/schedules', query: { processId: id } }
  return { path: `/processes/${slug}${tab === 'versions' ? '/versions' : ''}` }
}

function Note({ team, process: { id, programmingLanguage, tags } }: { team: string; process: Process }) {
  const { data: last } = useLastExecution(team, id)
  return (
    <span className={styles.note}>
      <span className={styles.soft}>{languageNames[programmingLanguage]}</span>
      {last && (
        <Link
          to="/t/$team/executions/$executionId"
          params={{ team, executionId: last.id }}
          className={styles.last}
          title="The newest execution"
        >
          <Status of={last.status} />
        </Link>
      )}
      <Tags of={tags} />
    </span>
  )
}
