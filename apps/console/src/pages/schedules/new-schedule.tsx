import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useProcessChoices } from '../../api/queries/executions.ts'
import { Dialog, FormActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { processLabel } from '../../rules/process-label.ts'

interface Props {
  team: string
  isOpen: boolean
  onClose: () => void
}

/** Asks which process shall run, and leads to where its new schedule is written. */
export function NewSchedule({ team, isOpen, onClose }: Props) {
  return (
    <Dialog title="New schedule" isOpen={isOpen} onClose={onClose}>
      <ChooseProcess team={team} onClose={onClose} />
    </Dialog>
  )
}

function ChooseProcess({ team, onClose }: Omit<Props, 'isOpen'>) {
  const processes = useProcessChoices(team)
  const [chosen, setChosen] = useState('')
  const navigate = useNavigate()
  return (
    <form
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        void navigate({ to: '/t/$team/processes/$slug/schedules', params: { team, slug: chosen } })
      }}
    >
      <Field label="Process" hint={processes.data?.length === 0 ? 'There is none yet: make one first.' : undefined}>
        <select required value={chosen} onChange={(event) => setChosen(event.target.value)}>
          <option value="">Choose a process</option>
          {processes.data?.map((process) => (
            <option key={process.id} value={process.slug}>
              {processLabel(process)}
            </option>
          ))}
        </select>
      </Field>
      <FormFault error={processes.error} />
      <FormActions onCancel={onClose}>Continue</FormActions>
    </form>
  )
}
