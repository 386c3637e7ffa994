import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { useExecution, type Execution, listedExecutions } from '../../api/queries/executions.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import { PageAnswer } from '../../parts/page-answer.tsx'
import { Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { tabOf, Tabs } from '../../parts/tabs.tsx'
import { useCopy } from '../../parts/use-copy.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { isEnd, mayWait } from '../../rules/executions.ts'
import { useMay } from '../../session/session-context.ts'
import { useTabState } from '../../shell/tab-icon.ts'
import { useVisit } from '../../shell/visits.ts'
import { lastSearch } from '../../session/last-search.ts'
import { ChildrenTab } from './children-tab.tsx'
import { ErrorCard } from './error-card.tsx'
import { ExecutionAside } from './execution-aside.tsx'
import { KillDialog } from './kill-dialog.tsx'
import { LogTab } from './log-tab.tsx'
import { RequestTab } from './request-tab.tsx'
import { RerunDialog } from './rerun-dialog.tsx'
import { SourceTab } from './source-tab.tsx'
import { WaitingCard } from './waiting-card.tsx'
import styles from './execution.module.css'
import { useToast } from '../../shell/toasts.tsx'

const ROUTE = '/t/$team/executions/$executionId'
const tabs = [
  ['log', 'Log'],
  ['source', 'Source'],
  ['request', 'Request'],
  ['children', 'Children'],
] as const

/** One execution: what became of it and why, live until its end. */
export function ExecutionPage() {
  const { team, executionId } = useParams({ from: ROUTE })
  const execution = useExecution(team, executionId)
  return (
    <PageAnswer of={execution} what="execution">
      {(data) => <ExecutionView key={data.id} team={team} execution={data} />}
    </PageAnswer>
  )
}

function ExecutionView({ team, execution }: { team: string; execution: Execution }) {
  const tab = tabOf(tabs, useSearch({ from: ROUTE })['tab'])
  const [asked, setAsked] = useState<'rerun' | 'kill'>()
  const navigate = useNavigate()
  const mayRun = useMay('run')
  const { id, status, processName, processSlug } = execution
  const canKill = mayRun && !isEnd(status)
  const copy = useCopy()
  const otherRun = useOtherRun(team, execution)
  useTabState(status, processName)
  useVisit({ team, kind: 'execution', id, name: processName })
  useKeys({
    r: () => mayRun && setAsked('rerun'),
    x: () => canKill && setAsked('kill'),
    c: () => copy(window.location.href, 'The link is copied'),
    '[': () => otherRun(-1),
    ']': () => otherRun(1),
    Escape: () => void navigate({ to: '/t/$team/executions', params: { team }, search: { ...lastSearch(team) } }),
  })
  return (
    <Page
      title={processName}
      note={<Status of={status} />}
      call={callOf(id, tab)}
      actions={
        <>
          {canKill && (
            <Button look="danger" title="Kill (x)" onClick={() => setAsked('kill')}>
              <icons.stop /> Kill
            </Button>
          )}
          <Link className={styles.action} to="/t/$team/processes/$slug/edit" params={{ team, slug: processSlug }}>
            <icons.code /> Process
          </Link>
          {execution.rerunOf !== undefined && (
            <Link
              className={styles.action}
              to="/t/$team/executions/compare"
              params={{ team }}
              search={{ a: execution.rerunOf, b: id }}
            >
              Compare with the first
            </Link>
          )}
          <Button look="primary" title="Rerun (r)" disabled={!mayRun} onClick={() => setAsked('rerun')}>
            <icons.rerun /> Rerun…
          </Button>
        </>
      }
    >
      {mayWait(status) && <WaitingCard team={team} id={id} />}
      {(status === 'ERROR' || status === 'REJECTED' || status === 'KILLED') && (
        <ErrorCard team={team} execution={execution} />
      )}
      <div className={styles.columns}>
        <div className={styles.main}>
          <Tabs label="Parts of the execution">
            {tabs.map(([name, word]) => (
              <Link
                key={name}
                to={ROUTE}
                params={{ team, executionId: id }}
                search={name === 'log' ? {} : { tab: name }}
                aria-current={tab === name ? 'page' : undefined}
                activeOptions={{ exact: true, includeSearch: true }}
              >
                {word}
              </Link>
            ))}
          </Tabs>
          {tab === 'log' && <LogTab team={team} execution={execution} />}
          {tab === 'source' && <SourceTab team={team} execution={execution} />}
          {tab === 'request' && <RequestTab team={team} execution={execution} />}
          {tab === 'children' && <ChildrenTab team={team} id={id} />}
        </div>
        <ExecutionAside team={team} execution={execution} />
      </div>
      <RerunDialog team={team} execution={execution} isOpen={asked === 'rerun'} onClose={() => setAsked(undefined)} />
      <KillDialog team={team} ids={[id]} isOpen={asked === 'kill'} onClose={() => setAsked(undefined)} />
    </Page>
  )
}

/** The call that reads what a tab shows; beside the log stands the execution itself. */
const callOf = (id: string, tab: (typeof tabs)[number][0]) => ({
  path: `/executions/${id}${tab === 'log' ? '' : `/${tab}`}`,
})

/**
 * Goes to the run beside this one: -1 is the row before, 1 the next one, in the list that was seen last and has it, else
 * among the newest of its process.
 */
function useOtherRun(team: string, { id, processId }: Execution): (step: -1 | 1) => Promise<void> {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const say = useToast()
  return async (step) => {
    try {
      const ids = await listedExecutions(queries, team, { id, processId })
      const other = ids[ids.indexOf(id) + step]
      if (!ids.includes(id) || other === undefined) return say('The list that this run is in ends here')
      await navigate({ to: '/t/$team/executions/$executionId', params: { team, executionId: other } })
    } catch (error) {
      say(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
