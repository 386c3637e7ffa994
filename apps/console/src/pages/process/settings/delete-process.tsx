import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useDeleteProcess } from '../../../api/queries/process-settings.ts'
import type { Process } from '../../../api/queries/processes.ts'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { icons } from '../../../parts/icons.tsx'
import { Card } from '../../../parts/page.tsx'
import { useToast } from '../../../shell/toasts.tsx'
import styles from '../tab.module.css'

/** Deletes a process once its slug was typed. */
export function DeleteProcess({ team, process }: { team: string; process: Process }) {
  const [asks, setAsks] = useState(false)
  const navigate = useNavigate()
  const say = useToast()
  const remove = useDeleteProcess(team, process.slug)
  return (
    <Card title="Delete">
      <div className={styles.row}>
        <Button look="danger" onClick={() => setAsks(true)}>
          <icons.trash />
          Delete this process
        </Button>
        <span className={styles.soft}>
          With its versions, schedules, executions and logs. This can&apos;t be undone.
        </span>
      </div>
      <Confirm
        title={`Delete ${process.name}?`}
        isOpen={asks}
        onClose={() => setAsks(false)}
        verb="Delete"
        word={process.slug}
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() =>
          remove.mutate(undefined, {
            onSuccess: () => {
              say(`${process.name} is deleted`)
              void navigate({ to: '/t/$team/processes', params: { team }, ignoreBlocker: true })
            },
          })
        }
      >
        Its versions, aliases, schedules, executions and logs go with it, and its webhook answers 404.
      </Confirm>
    </Card>
  )
}
