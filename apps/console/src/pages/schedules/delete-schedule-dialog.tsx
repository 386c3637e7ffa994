import { useDeleteSchedule, type Schedule } from '../../api/queries/schedules.ts'
import { Confirm } from '../../parts/confirm.tsx'

interface Props {
  team: string
  /** The one that is asked about; none where nothing is. */
  schedule: Schedule | undefined
  onClose: () => void
}

export function DeleteScheduleDialog({ team, schedule, onClose }: Props) {
  const remove = useDeleteSchedule(team)
  return (
    <Confirm
      title="Delete this schedule?"
      verb="Delete"
      isOpen={schedule !== undefined}
      onClose={onClose}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => schedule && remove.mutate(schedule.id, { onSuccess: onClose })}
    >
      <code>{schedule?.cron ?? schedule?.dateTime}</code> starts nothing from then on. Its executions stay.
    </Confirm>
  )
}
