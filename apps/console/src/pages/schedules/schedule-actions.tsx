import { useNavigate } from '@tanstack/react-router'
import { usePauseSchedule, useRunSchedule, type Schedule } from '../../api/queries/schedules.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import styles from './schedules.module.css'

interface Props {
  team: string
  schedule: Schedule
  onDelete: () => void
}

/** Run now, pause or resume, delete. */
export function ScheduleActions({ team, schedule, onDelete }: Props) {
  const { id, paused } = schedule
  const navigate = useNavigate()
  const say = useToast()
  const mayRun = useMay('run')
  const mayBuild = useMay('build')
  const run = useRunSchedule(team)
  const pause = usePauseSchedule(team)
  const start = () =>
    run.mutate(id, {
      onSuccess: ({ id: executionId }) =>
        void navigate({ to: '/t/$team/executions/$executionId', params: { team, executionId } }),
      onError: say,
    })
  return (
    <span className={styles.actions}>
      {mayRun && (
        <Button look="quiet" isBusy={run.isPending} onClick={start}>
          <icons.play /> Run now
        </Button>
      )}
      {mayBuild && (
        <>
          <Button
            look="quiet"
            isBusy={pause.isPending}
            onClick={() => pause.mutate({ id, isPaused: !paused }, { onError: say })}
          >
            {paused ? 'Resume' : 'Pause'}
          </Button>
          <Button look="quiet" aria-label="Delete the schedule" onClick={onDelete}>
            <icons.trash />
          </Button>
        </>
      )}
    </span>
  )
}
