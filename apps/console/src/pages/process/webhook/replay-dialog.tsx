import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ProblemError } from '../../../api/problem.ts'
import { useExecution, useExecutionRequest, useReplay } from '../../../api/queries/executions.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog, DialogActions } from '../../../parts/dialog.tsx'
import { Answer, Fault } from '../../../parts/page-states.tsx'
import { Status } from '../../../parts/status.tsx'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { TagField } from '../tag-field.tsx'
import styles from '../tab.module.css'

interface Props {
  team: string
  slug: string
  /** The execution whose request is sent again; the dialog is closed where absent. */
  executionId: string | undefined
  onClose: () => void
}

/** Sends the request of a delivery once more, to the code of any version. */
export function ReplayDialog({ executionId, onClose, ...rest }: Props) {
  return (
    <Dialog title="Replay a delivery" isOpen={executionId !== undefined} onClose={onClose}>
      {executionId !== undefined && <Replay {...rest} executionId={executionId} onClose={onClose} />}
    </Dialog>
  )
}

function Replay({ team, slug, executionId, onClose }: Props & { executionId: string }) {
  const [tag, setTag] = useState('')
  const request = useExecutionRequest(team, executionId)
  const replay = useReplay(team)
  const started = replay.data?.executionId
  const tagFault = replay.error instanceof ProblemError ? replay.error.faults.get('/tag') : undefined
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        replay.mutate({ id: executionId, tag: tag.trim() || undefined })
      }}
    >
      <Answer of={request} what="request">
        {(known) =>
          known === null ? (
            <p>The request is not kept any more.</p>
          ) : (
            <CodeBlock
              label="request"
              text={`${known.method} ${known.path}\n${known.isBase64 ? '(bytes)' : (known.rawBody ?? '')}`.trim()}
            />
          )
        }
      </Answer>
      <TagField
        team={team}
        identifier={slug}
        label="Version, tag or alias"
        hint="Empty: the version that the execution ran, or the current source."
        fault={tagFault}
        value={tag}
        onChange={setTag}
      />
      {replay.error && tagFault === undefined && <Fault error={replay.error} />}
      {started !== undefined && <Started team={team} executionId={started} />}
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" look="primary" isBusy={replay.isPending}>
          {started === undefined ? 'Replay' : 'Replay again'}
        </Button>
      </DialogActions>
    </form>
  )
}

function Started({ team, executionId }: { team: string; executionId: string }) {
  const { data } = useExecution(team, executionId)
  return (
    <p role="status" className={styles.row}>
      {data ? <Status of={data.status} /> : 'Started'}
      <Link to="/t/$team/executions/$executionId" params={{ team, executionId }}>
        Open execution {executionId.slice(-8)}
      </Link>
    </p>
  )
}
