import { Link, useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useExecution, type Execution } from '../../api/queries/executions.ts'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { duration, Time, useNow } from '../../parts/time.tsx'
import { originWord, ranMs } from '../../rules/executions.ts'
import { laidOut } from '../../rules/json-text.ts'
import { ComparedLogs } from './compared-logs.tsx'
import { ComparedSources } from './compared-sources.tsx'
import { TextDiff } from './text-diff.tsx'
import styles from './compare.module.css'

const ROUTE = '/t/$team/executions/compare'

/** Two executions side by side: what they were given, what they gave, what they logged, what they ran. */
export function ComparePage() {
  const { team } = useParams({ from: ROUTE })
  const { a, b } = useSearch({ from: ROUTE })
  if (typeof a !== 'string' || typeof b !== 'string')
    return (
      <Page title="Compare">
        <Empty title="Two executions are compared">
          <p>Select two in the list.</p>
          <Link to="/t/$team/executions" params={{ team }}>
            To the list
          </Link>
        </Empty>
      </Page>
    )
  return <Compared key={`${a} ${b}`} team={team} a={a} b={b} />
}

function Compared({ team, a, b }: { team: string; a: string; b: string }) {
  const first = useExecution(team, a)
  const second = useExecution(team, b)
  return (
    <Page
      title="Compare"
      call={{ path: `/executions/${b}` }}
      actions={
        <Link to={ROUTE} params={{ team }} search={{ a: b, b: a }}>
          Swap sides
        </Link>
      }
    >
      <Answer of={first} what="first execution">
        {(before) => (
          <Answer of={second} what="second execution">
            {(after) => <Sides team={team} before={before} after={after} />}
          </Answer>
        )}
      </Answer>
    </Page>
  )
}

function Sides({ team, before, after }: { team: string; before: Execution; after: Execution }) {
  const now = useNow()
  const rows = rowsOf(now)
  return (
    <>
      <table className={styles.facts}>
        <caption className="visually-hidden">Both executions</caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">What</span>
            </th>
            {[before, after].map(({ id, processName }, side) => (
              <th key={side === 0 ? 'before' : 'after'} scope="col">
                <Link to="/t/$team/executions/$executionId" params={{ team, executionId: id }}>
                  {processName} <code>…{id.slice(-8)}</code>
                </Link>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, show]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{show(before)}</td>
              <td>{show(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Card title="Parameters">
        <TextDiff
          label="Parameters"
          before={laidOut(before.parameters ?? {})}
          after={laidOut(after.parameters ?? {})}
          isWhole
        />
      </Card>
      <Card title="Value or error">
        <TextDiff label="Value or error" before={outcome(before)} after={outcome(after)} isWhole />
      </Card>
      <Card title="Source">
        <ComparedSources team={team} before={before.id} after={after.id} />
      </Card>
      <Card title="Log">
        <ComparedLogs team={team} before={before} after={after} />
      </Card>
    </>
  )
}

const outcome = ({ returnValue, error, timeline }: Execution): string =>
  error !== undefined ? `${error.name}: ${error.message}` : laidOut(returnValue ?? timeline.explanation ?? '')

const rowsOf = (now: number): [string, (execution: Execution) => ReactNode][] => [
  ['Status', ({ status }) => <Status of={status} />],
  ['Created', ({ createdAt }) => <Time at={createdAt} />],
  [
    'Ran for',
    (execution) => {
      const ran = ranMs(execution, now)
      return ran === undefined ? '–' : duration(ran)
    },
  ],
  ['Version', ({ tag, versionId }) => tag ?? versionId ?? 'current source'],
  ['Started by', originWord],
]
