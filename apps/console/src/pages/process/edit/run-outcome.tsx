import { Link } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { executionKeys, useExecution, useKill, type Execution } from '../../../api/queries/executions.ts'
import { useExecutionLog } from '../../../live/execution-log.ts'
import { Button } from '../../../parts/button.tsx'
import { icons } from '../../../parts/icons.tsx'
import { JsonTextView } from '../../../parts/json-view.tsx'
import layout from '../../../parts/layout.module.css'
import { LogView } from '../../../parts/log-view.tsx'
import { Answer, Fault } from '../../../parts/page-states.tsx'
import { Status } from '../../../parts/status.tsx'
import { duration, useNow } from '../../../parts/time.tsx'
import { nameOf } from '../../../rules/code-frame.ts'
import { isEnd, ranMs } from '../../../rules/executions.ts'
import { useToast } from '../../../shell/toasts.tsx'
import styles from './edit.module.css'

interface Props {
  team: string
  id: string
  onLine: (line: number) => void
}

/** What becomes of a run: its status, its log as it comes, its value or its error. */
export function RunOutcome({ team, id, onLine }: Props) {
  const execution = useExecution(team, id)
  return (
    <Answer of={execution} what="run">
      {(data) => <Outcome team={team} execution={data} onLine={onLine} />}
    </Answer>
  )
}

interface OutcomeProps {
  team: string
  execution: Execution
  onLine: (line: number) => void
}

function Outcome({ team, execution, onLine }: OutcomeProps) {
  const { id, status, processSlug, trial } = execution
  const log = useExecutionLog(team, id, false)
  const queries = useQueryClient()
  const isOver = log.state === 'whole'
  useEffect(() => {
    if (isOver) void queries.invalidateQueries({ queryKey: executionKeys.one(team, id), exact: true })
  }, [isOver, queries, team, id])
  const place = useRef<HTMLElement>(null)
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const ran = ranMs(execution, useNow())
  const linkTo = (place: { file: string; line: number; text: string }) => (
    <Place team={team} execution={execution} onLine={onLine} isInLog {...place} />
  )
  return (
    <section ref={place} aria-label="Outcome" className={`${layout.tight} ${styles.outcome}`}>
      <div className={`${layout.row} ${layout.spread}`}>
        <span role="status" className={layout.row}>
          <Status of={status} />
          {ran !== undefined && isEnd(status) && <span className={layout.soft}>{duration(ran)}</span>}
          {trial && <span className={layout.soft}>trial</span>}
        </span>
        <span className={layout.row}>
          {!isEnd(status) && <KillButton team={team} id={id} />}
          <Link className={styles.whole} to="/t/$team/executions/$executionId" params={{ team, executionId: id }}>
            Execution
          </Link>
        </span>
      </div>
      <Value team={team} execution={execution} onLine={onLine} />
      {log.error !== undefined && <Fault error={log.error} onRetry={log.retry} />}
      <LogView
        store={log.store}
        isGrowing={!isEnd(status)}
        fileName={`${processSlug}-${id}.log`}
        linkTo={linkTo}
        empty={isOver ? 'It has logged nothing' : 'No line yet'}
      />
    </section>
  )
}

function Value({ team, execution, onLine }: OutcomeProps) {
  const { returnValue, error, status, timeline, processSlug } = execution
  if (returnValue !== undefined) return <JsonTextView text={returnValue} what="the value" />
  if (error === undefined)
    return isEnd(status) && status !== 'FINISHED' && timeline.explanation ? <p>{timeline.explanation}</p> : null
  const places = error.frames.filter(({ file }) => nameOf(file) === processSlug)
  // Python has the innermost place at the end.
  const own = places.at(places[0]?.file.endsWith('.py') ? -1 : 0)
  return (
    <div className={styles.error}>
      <strong>
        {error.name}: {error.message}
      </strong>
      {own && <Place {...{ team, execution, onLine }} {...own} text={`Line ${own.line}`} />}
    </div>
  )
}

interface PlaceProps extends OutcomeProps {
  file: string
  line: number
  text: string
  isInLog?: boolean
}

/** A place in the editor; of modules and versions, which are not in it, one in what has run. */
function Place({ team, execution, onLine, file, line, text, isInLog = false }: PlaceProps) {
  const look = `${layout.linkish} ${isInLog ? styles.place : ''}`
  if (nameOf(file) === execution.processSlug && execution.versionId === undefined)
    return (
      <button type="button" className={look} onClick={() => onLine(line)}>
        {text}
      </button>
    )
  const params = { team, executionId: execution.id }
  return (
    <Link to="/t/$team/executions/$executionId" params={params} search={{ tab: 'source', file, line }} className={look}>
      {text}
    </Link>
  )
}

function KillButton({ team, id }: { team: string; id: string }) {
  const kill = useKill(team)
  const say = useToast()
  return (
    <Button look="danger" isBusy={kill.isPending} onClick={() => kill.mutate(id, { onError: say })}>
      <icons.stop /> Kill
    </Button>
  )
}
