import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useScheduleAction, type Schedule } from '../../../api/queries/process-schedules.ts'
import { useRunSchedule } from '../../../api/queries/schedules.ts'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { icons } from '../../../parts/icons.tsx'
import { Status } from '../../../parts/status.tsx'
import { Time } from '../../../parts/time.tsx'
import type { JsonSchema } from '../../../rules/json-schema.ts'
import { useMay } from '../../../session/session-context.ts'
import { useToast } from '../../../shell/toasts.tsx'
import { ChangeScheduleDialog } from './change-schedule-dialog.tsx'
import { LastFirings } from './last-firings.tsx'
import { timeWithZone } from './time-in-zone.ts'
import styles from './schedules.module.css'
import tab from '../tab.module.css'

interface Props {
  team: string
  slug: string
  schedule: Schedule
  /** Of the parameters of the process. */
  schema: JsonSchema | null
  zone: string
  /** Whether its last firings are shown at first. */
  isOpen: boolean
}

/** One schedule: when it is due, what it runs, what became of its last times, and what can be done with it. */
export function ScheduleItem({ team, slug, schedule, schema, zone, isOpen }: Props) {
  const [shown, setShown] = useState(isOpen)
  const { cron, dateTime, comment, tag, versionId, nextExecutionAt, parameters, settings } = schedule
  const title = cron ?? (dateTime === undefined ? '' : timeWithZone(dateTime, zone))
  return (
    <article aria-label={`Schedule ${comment ?? title}`} className={styles.item}>
      <header className={styles.head}>
        <div className={styles.when}>
          {cron === undefined ? <strong>{title}</strong> : <code className={styles.cron}>{title}</code>}
          <Status of={statusOf(schedule)} />
          {comment && <span>{comment}</span>}
        </div>
        <Actions team={team} slug={slug} schedule={schedule} schema={schema} zone={zone} title={title} />
      </header>
      <dl className={styles.facts}>
        <Fact name="Next">
          {nextExecutionAt === undefined ? (
            '–'
          ) : (
            <>
              <Time at={nextExecutionAt} />, {timeWithZone(nextExecutionAt, zone)}
            </>
          )}
        </Fact>
        <Fact name="Runs">
          {tag === undefined ? 'the current source' : versionId === undefined ? `${tag}, which is gone` : tag}
        </Fact>
        <Fact name="Overlap">{settings.allowConcurrentExecutions ? 'allowed' : 'the next one waits'}</Fact>
        <Fact name="Parameters">
          {parameters === undefined || Object.keys(parameters).length === 0 ? (
            'none'
          ) : (
            <code className={styles.parameters}>{JSON.stringify(parameters)}</code>
          )}
        </Fact>
      </dl>
      <details open={isOpen} className={tab.details} onToggle={(event) => setShown(event.currentTarget.open)}>
        <summary>Last firings</summary>
        {shown && <LastFirings team={team} id={schedule.id} zone={zone} />}
      </details>
      <p>
        <Link to="/t/$team/executions" params={{ team }} search={{ schedule: schedule.id }}>
          All its executions
        </Link>
      </p>
    </article>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function statusOf({ paused, nextExecutionAt }: Schedule): string {
  if (paused) return 'PAUSED'
  return nextExecutionAt === undefined ? 'ENDED' : 'ACTIVE'
}

function Actions({ team, slug, schedule, schema, zone, title }: Omit<Props, 'isOpen'> & { title: string }) {
  const [asks, setAsks] = useState<'delete' | 'change'>()
  const mayRun = useMay('run')
  const mayBuild = useMay('build')
  const say = useToast()
  const navigate = useNavigate()
  const run = useRunSchedule(team)
  const pause = useScheduleAction(team, schedule.paused ? 'resume' : 'pause')
  const remove = useScheduleAction(team, 'delete')
  const runNow = () =>
    run.mutate(schedule.id, {
      onError: say,
      onSuccess: ({ id }) =>
        void navigate({ to: '/t/$team/executions/$executionId', params: { team, executionId: id } }),
    })
  return (
    <div className={tab.row}>
      {mayRun && (
        <Button onClick={runNow} isBusy={run.isPending}>
          <icons.play />
          Run now
        </Button>
      )}
      {mayRun && (
        <Button isBusy={pause.isPending} onClick={() => pause.mutate(schedule.id, { onError: say })}>
          {schedule.paused ? <icons.play /> : <icons.pause />}
          {schedule.paused ? 'Resume' : 'Pause'}
        </Button>
      )}
      {mayBuild && <Button onClick={() => setAsks('change')}>Change</Button>}
      {mayBuild && (
        <Button look="danger" onClick={() => setAsks('delete')}>
          <icons.trash />
          Delete
        </Button>
      )}
      <ChangeScheduleDialog
        team={team}
        slug={slug}
        id={schedule.id}
        zone={zone}
        schema={schema}
        isOpen={asks === 'change'}
        onClose={() => setAsks(undefined)}
      />
      <Confirm
        title="Delete the schedule?"
        isOpen={asks === 'delete'}
        onClose={() => setAsks(undefined)}
        verb="Delete"
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(schedule.id, { onSuccess: () => setAsks(undefined) })}
      >
        <code>{title}</code> starts nothing any more. Runs that have started go on.
      </Confirm>
    </div>
  )
}
