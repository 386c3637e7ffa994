import { useScheduleToChange } from '../../../api/queries/process-schedules.ts'
import { Dialog } from '../../../parts/dialog.tsx'
import { Answer } from '../../../parts/page-states.tsx'
import type { JsonSchema } from '../../../rules/json-schema.ts'
import { typedOf } from '../../../rules/schedule-form.ts'
import { ScheduleForm } from './schedule-form.tsx'

interface Props {
  team: string
  slug: string
  id: string
  zone: string
  schema: JsonSchema | null
  isOpen: boolean
  onClose: () => void
}

/** Changes a schedule, where nobody else has meanwhile. */
export function ChangeScheduleDialog({ isOpen, onClose, ...rest }: Props) {
  return (
    <Dialog title="Change the schedule" isWide isOpen={isOpen} onClose={onClose}>
      {isOpen && <Change {...rest} onClose={onClose} />}
    </Dialog>
  )
}

function Change({ team, slug, id, zone, schema, onClose }: Omit<Props, 'isOpen'>) {
  const read = useScheduleToChange(team, id)
  return (
    <Answer of={read} what="schedule">
      {({ schedule, etag }) => (
        <ScheduleForm
          team={team}
          slug={slug}
          zone={zone}
          schema={schema}
          initial={typedOf(schedule, zone)}
          verb="Save"
          of={{ id, etag }}
          onDone={onClose}
        />
      )}
    </Answer>
  )
}
