import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Execution } from '../../api/queries/executions.ts'
import { useExecutionLog } from '../../live/execution-log.ts'
import { LogView } from '../../parts/log-view.tsx'
import { Fault } from '../../parts/page-states.tsx'
import { isEnd } from '../../rules/executions.ts'
import { hashOf, rangeOf, type LineRange } from '../../rules/line-range.ts'

const words = {
  loading: 'Loading the log',
  live: 'No line yet',
  lost: 'The connection was lost; trying again.',
  whole: 'It has logged nothing',
  failed: 'The log could not be read',
}

/** The log of an execution, live while it runs; the chosen lines are in the address. */
export function LogTab({ team, execution }: { team: string; execution: Execution }) {
  const { id, status, processSlug } = execution
  const { store, state, error, retry } = useExecutionLog(team, id, isEnd(status))
  const hash = useLocation({ select: (location) => location.hash })
  const navigate = useNavigate()
  const choose = (range: LineRange | undefined) => {
    const to = '/t/$team/executions/$executionId'
    void navigate({ to, params: { team, executionId: id }, hash: range && hashOf(range), replace: true })
  }
  const linkTo = useCallback(
    ({ file, line, text }: { file: string; line: number; text: string }) => (
      <Link
        to="/t/$team/executions/$executionId"
        params={{ team, executionId: id }}
        search={{ tab: 'source', file, line }}
        preload={false}
      >
        {text}
      </Link>
    ),
    [team, id],
  )
  return (
    <>
      {error !== undefined && <Fault error={error} onRetry={retry} />}
      {state === 'lost' && <p role="status">{words.lost}</p>}
      <LogView
        key={id}
        store={store}
        isGrowing={!isEnd(status)}
        fileName={`${processSlug}-${id}.log`}
        range={rangeOf(hash)}
        onRange={choose}
        linkTo={linkTo}
        empty={words[state]}
      />
    </>
  )
}
