import { Link } from '@tanstack/react-router'
import type { Execution } from '../../api/queries/executions.ts'
import { Facts } from '../../parts/facts.tsx'
import { JsonTextView, JsonView } from '../../parts/json-view.tsx'
import { Card } from '../../parts/page.tsx'
import { duration, Time, useNow } from '../../parts/time.tsx'
import { Timeline } from '../../parts/timeline.tsx'
import { originWord, ranMs } from '../../rules/executions.ts'
import styles from './execution.module.css'

/** What stands beside the log: timeline, facts, parameters, value. */
export function ExecutionAside({ team, execution }: { team: string; execution: Execution }) {
  const now = useNow()
  const { parameters, returnValue } = execution
  return (
    <div className={styles.aside}>
      {returnValue !== undefined && (
        <Card title="Value">
          <JsonTextView text={returnValue} what="the value" />
        </Card>
      )}
      <Card title="Timeline">
        <Timeline of={execution.timeline} nowMs={now} />
      </Card>
      <Card title="Parameters">
        {parameters === undefined || Object.keys(parameters).length === 0 ? (
          <span className={styles.soft}>none</span>
        ) : (
          <JsonView value={parameters} what="the parameters" />
        )}
      </Card>
      <Card title="About it">
        <Facts of={factsOf(team, execution, now)} />
      </Card>
    </div>
  )
}

function factsOf(team: string, execution: Execution, now: number) {
  const { parentId, rerunOf, scheduledId, tag, versionId, comment, initiatedBy, createdBy, settings } = execution
  const ran = ranMs(execution, now)
  return [
    ['Execution', <code key="id">{execution.id}</code>],
    ['Started by', originWord(execution)],
    ['By', initiatedBy ?? createdBy],
    ['Created', <Time key="at" at={execution.createdAt} />],
    ['Ran for', ran === undefined ? undefined : duration(ran)],
    ['Version', tag ?? versionId ?? 'current source'],
    ['Comment', comment],
    ['Parent', parentId && <ExecutionLink key="parent" team={team} id={parentId} />],
    ['Rerun of', rerunOf && <ExecutionLink key="rerun" team={team} id={rerunOf} />],
    [
      'Schedule',
      scheduledId && (
        <Link key="schedule" to="/t/$team/executions" params={{ team }} search={{ schedule: scheduledId }}>
          all of its executions
        </Link>
      ),
    ],
    ['Pool', settings.agentPoolSlug],
    ['Timeout', duration(settings.timeout)],
  ] as const
}

function ExecutionLink({ team, id }: { team: string; id: string }) {
  return (
    <Link to="/t/$team/executions/$executionId" params={{ team, executionId: id }}>
      <code>…{id.slice(-12)}</code>
    </Link>
  )
}
