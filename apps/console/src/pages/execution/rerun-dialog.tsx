import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ProblemError } from '../../api/problem.ts'
import { useRerun, type Execution } from '../../api/queries/executions.ts'
import { useProcess } from '../../api/queries/processes.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Dialog, FormActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { firstFocus } from '../../parts/first-focus.ts'
import { Fault } from '../../parts/page-states.tsx'
import { useCtrlEnter } from '../../parts/use-keys.ts'
import { restCurl } from '../../rules/as-curl.ts'
import { changedFields } from '../../rules/changed-fields.ts'
import { keptParameters, withoutSecrets, type JsonSchema } from '../../rules/json-schema.ts'
import { laidOut, readObject } from '../../rules/json-text.ts'
import { withRecent } from '../../rules/recent.ts'
import { useSession } from '../../session/session-context.ts'
import { keepList, keptList } from '../../session/kept-here.ts'
import { TagField } from '../process/tag-field.tsx'
import styles from './execution.module.css'

/** How many sets of parameters are kept for each process. */
const KEPT = 5

interface Props {
  team: string
  execution: Execution
  isOpen: boolean
  onClose: () => void
}

/** Starts an execution again, with other parameters or of another version. */
export function RerunDialog({ isOpen, onClose, ...rest }: Props) {
  return (
    <Dialog title="Rerun" isOpen={isOpen} onClose={onClose} isWide>
      <RerunForm onClose={onClose} {...rest} />
    </Dialog>
  )
}

function RerunForm({ team, execution, onClose }: Omit<Props, 'isOpen'>) {
  const first = execution.parameters ?? {}
  const keptName = `parameters:${team}:${execution.processId}`
  const [text, setText] = useState(laidOut(first))
  const [tag, setTag] = useState('')
  const [comment, setComment] = useState(execution.comment ?? '')
  const [kept] = useState(() => keptList<string>(keptName))
  const rerun = useRerun(team)
  const { apiUrl } = useSession()
  const process = useProcess(team, execution.processId)
  // Undefined until it is known what is secret.
  const schema = process.data && (process.data.record.parametersSchema as JsonSchema | null)
  const navigate = useNavigate()
  const read = readObject(text)
  const changes = 'value' in read ? changedFields(first, read.value) : []
  const faults = rerun.error instanceof ProblemError ? rerun.error.faults : undefined

  const input = {
    ...(changes.length > 0 && 'value' in read && { parameters: read.value }),
    ...(tag.trim() !== '' && { tag: tag.trim() }),
    ...(comment !== (execution.comment ?? '') && { comment }),
  }
  const start = () => {
    if (rerun.isPending || 'fault' in read) return
    if (schema !== undefined) keepList(keptName, withRecent(kept, keptParameters(schema, read.value), KEPT))
    rerun.mutate(
      { id: execution.id, input },
      {
        onSuccess: (executionId) => {
          onClose()
          void navigate({ to: '/t/$team/executions/$executionId', params: { team, executionId } })
        },
      },
    )
  }
  useCtrlEnter(start)
  const curl = (known: JsonSchema | null) => {
    const shown = input.parameters && { parameters: withoutSecrets(known, input.parameters) }
    return restCurl(apiUrl, team, {
      method: 'POST',
      path: `/executions/${execution.id}/rerun`,
      body: { ...input, ...shown },
    })
  }
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        start()
      }}
    >
      {kept.length > 0 && <KeptSets kept={kept} onChoose={(chosen) => setText(laidOut(chosen))} />}
      <Field label="Parameters" fault={'fault' in read ? read.fault : faults?.get('/parameters')}>
        <textarea
          data-code
          rows={10}
          spellCheck={false}
          value={text}
          ref={firstFocus}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <Changes of={changes} onRestore={() => setText(laidOut(first))} />
      <div className={styles.pair}>
        <TagField
          team={team}
          identifier={execution.processId}
          label="Version, tag or alias"
          hint={`Empty: ${codeOfRerun(execution)}`}
          fault={faults?.get('/tag')}
          value={tag}
          onChange={setTag}
        />
        <Field label="Comment" fault={faults?.get('/comment')}>
          <input value={comment} onChange={(event) => setComment(event.target.value)} />
        </Field>
      </div>
      {rerun.error && <Fault error={rerun.error} />}
      {schema !== undefined && <CopyAs curl={() => curl(schema)} />}
      <FormActions onCancel={onClose} isBusy={rerun.isPending} disabled={'fault' in read} title="Ctrl+Enter">
        {changes.length > 0 ? 'Run with these parameters' : 'Run again'}
      </FormActions>
    </form>
  )
}

/** What the service runs again where nothing else is asked for. */
function codeOfRerun({ trial, tag, versionId }: Execution): string {
  if (trial) return 'the source that was tried'
  return versionId === undefined ? 'the current source' : `the version that ran (${tag ?? versionId})`
}

function KeptSets({ kept, onChoose }: { kept: readonly string[]; onChoose: (text: string) => void }) {
  return (
    <Field label="Earlier parameters" hint="Kept in this browser until you sign out">
      <select defaultValue="" onChange={(event) => event.target.value !== '' && onChoose(event.target.value)}>
        <option value="">Those of this execution</option>
        {kept.map((set) => (
          <option key={set} value={set}>
            {set.length > 120 ? `${set.slice(0, 120)}…` : set}
          </option>
        ))}
      </select>
    </Field>
  )
}

function Changes({ of, onRestore }: { of: ReturnType<typeof changedFields>; onRestore: () => void }) {
  if (of.length === 0) return null
  return (
    <div>
      <h3>Changed</h3>
      <ul className={styles.changes}>
        {of.map(({ path, from, to }) => (
          <li key={path}>
            <code>
              {path || '/'} <del>{shortly(from)}</del> → <ins>{shortly(to)}</ins>
            </code>
          </li>
        ))}
      </ul>
      <Button look="quiet" onClick={onRestore}>
        Restore
      </Button>
    </div>
  )
}

function shortly(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
