import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { useExecutions, useProcessNamed, type Execution } from '../../api/queries/executions.ts'
import { Button } from '../../parts/button.tsx'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { icons } from '../../parts/icons.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { Pager } from '../../parts/pager.tsx'
import { useKeys } from '../../parts/use-keys.ts'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { filtersOf, readSearch, type ExecutionsSearch } from '../../rules/execution-filters.ts'
import { isEnd } from '../../rules/executions.ts'
import { useMay } from '../../session/session-context.ts'
import { KillDialog } from '../execution/kill-dialog.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { ExecutionsChart } from './executions-chart.tsx'
import { ExecutionsTable } from './executions-table.tsx'
import { Filters } from './filters.tsx'
import { keepSearch } from '../../session/last-search.ts'
import { RerunManyDialog } from './rerun-many-dialog.tsx'
import { SavedViews } from './saved-views.tsx'
import { MOST_WAITING, useLiveRows } from './use-live-rows.ts'
import styles from './executions.module.css'

const ROUTE = '/t/$team/executions'

/** The executions of a team, live, by filters that the address has. */
export function ExecutionsPage() {
  const { team } = useParams({ from: ROUTE })
  const given = useSearch({ from: ROUTE })
  const navigate = useNavigate()
  const search = useMemo(() => readSearch(given), [given])
  useEffect(() => keepSearch(team, search), [team, search])
  const process = useProcessNamed(team, search.process)
  const processId = process.data?.id
  const filters = useMemo(() => filtersOf(search, processId), [search, processId])
  const isUnknown = search.process !== undefined && process.data === undefined
  const list = useExecutions(team, filters, !isUnknown)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const live = useLiveRows(team, filters, selected.size > 0)
  const change = (next: Partial<ExecutionsSearch>) =>
    void navigate({ to: ROUTE, params: { team }, search: readSearch({ ...search, ...next }) })
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data])
  const isFiltered = Object.values(search).some((value) => value !== undefined)

  return (
    <Page
      title="Executions"
      actions={<SavedViews team={team} search={search} />}
      call={{ path: '/executions', query: filters }}
    >
      <Filters team={team} search={search} processId={processId} onChange={change} />
      <ExecutionsChart team={team} search={search} processId={processId} isWaiting={isUnknown} onChange={change} />
      {process.error && <p role="alert">There is no process {search.process}.</p>}
      {live.waiting > 0 && (
        <Button className={styles.news} onClick={live.show}>
          {live.waiting < MOST_WAITING ? live.waiting : `${MOST_WAITING}+`} new
        </Button>
      )}
      <Answer
        of={isUnknown ? { data: undefined, error: process.error, refetch: process.refetch } : list}
        what="executions"
      >
        {() =>
          rows.length === 0 ? (
            <Empty title={isFiltered ? 'No execution fits' : 'Nothing has run yet'}>
              {isFiltered ? (
                <Button onClick={() => void navigate({ to: ROUTE, params: { team }, search: {} })}>
                  <icons.cross /> Clear the filters
                </Button>
              ) : (
                <>
                  <p>Executions come from calls, webhooks and schedules of processes.</p>
                  <Link to="/t/$team/processes" params={{ team }}>
                    Choose a process to run
                  </Link>
                  <CurlHint team={team} method="POST" path="/processes/SLUG/execute" body={{ parameters: {} }} />
                </>
              )}
            </Empty>
          ) : (
            <>
              <Rows {...{ team, rows, selected, setSelected }} />
              <Pager {...list} />
            </>
          )
        }
      </Answer>
    </Page>
  )
}

interface RowsProps {
  team: string
  rows: readonly Execution[]
  selected: ReadonlySet<string>
  setSelected: (selected: ReadonlySet<string>) => void
}

function Rows({ team, rows, selected, setSelected }: RowsProps) {
  const navigate = useNavigate()
  const mayRun = useMay('run')
  const chosenId = useRowKeys(
    rows.map(({ id }) => id),
    (executionId) => void navigate({ to: '/t/$team/executions/$executionId', params: { team, executionId } }),
  )
  const [asked, setAsked] = useState<{ what: 'kill' | 'rerun'; ids: readonly string[] }>()
  const meant = selected.size > 0 ? rows.filter(({ id }) => selected.has(id)) : rows.filter(({ id }) => id === chosenId)
  const ask = (what: 'kill' | 'rerun') => {
    const ids = meant.filter(({ status }) => what === 'rerun' || !isEnd(status)).map(({ id }) => id)
    if (!mayRun || ids.length === 0) return false
    setAsked({ what, ids })
    return true
  }
  const turn = (id: string) => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    setSelected(next)
  }
  useKeys({
    x: () => ask('kill'),
    r: () => ask('rerun'),
    s: () => (chosenId === undefined ? false : turn(chosenId)),
  })
  const close = () => {
    setAsked(undefined)
    setSelected(new Set())
  }
  return (
    <>
      {mayRun && <BulkBar {...{ team, rows, selected, setSelected }} onAsk={ask} />}
      <ExecutionsTable {...{ team, rows, selected, chosenId }} onTurn={mayRun ? turn : undefined} />
      <KillDialog team={team} ids={asked?.ids ?? []} isOpen={asked?.what === 'kill'} onClose={close} />
      <RerunManyDialog team={team} ids={asked?.ids ?? []} isOpen={asked?.what === 'rerun'} onClose={close} />
    </>
  )
}
