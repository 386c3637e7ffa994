import { useState } from 'react'
import { changedMeanwhile } from '../../api/tagged.ts'
import { useSaveVariable, useVariable } from '../../api/queries/variables.ts'
import { ChangedMeanwhile } from '../../parts/changed-meanwhile.tsx'
import { Dialog, FormActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'

interface Props {
  team: string
  /** Absent: a new one. */
  id?: string
  /** Of a secret that is missing: a new one begins with it. */
  name?: string
  onClose: () => void
}

/** Creates a variable, or shows and changes one. The value of a secret is only written. */
export function VariableDialog({ team, id, name, onClose }: Props) {
  const variable = useVariable(team, id)
  return (
    <Dialog title={id === undefined ? 'New variable' : 'Variable'} isOpen onClose={onClose}>
      {id === undefined ? (
        <Form team={team} name={name} onClose={onClose} />
      ) : (
        <Answer of={variable} what="variable">
          {({ record, etag }) => <Form team={team} onClose={onClose} before={{ ...record, etag }} />}
        </Answer>
      )}
    </Dialog>
  )
}

interface Before {
  id: string
  etag: string
  key: string
  value: string
  isSensitive: boolean
}

function Form({ team, name = '', before, onClose }: Omit<Props, 'id'> & { before?: Before }) {
  const [key, setKey] = useState(before?.key ?? name)
  const [value, setValue] = useState(before === undefined || before.isSensitive ? '' : before.value)
  const [isSensitive, setSensitive] = useState(before?.isSensitive ?? name !== '')
  const [etag, setEtag] = useState(before?.etag)
  const save = useSaveVariable(team)
  const say = useToast()
  const mayBuild = useMay('build')
  const keepsSecret = before?.isSensitive === true && value === ''

  const submit = (tag: string | undefined) => {
    const body = before === undefined ? { key, value, isSensitive } : { key, ...(keepsSecret ? {} : { value }) }
    save.mutate(
      { id: before?.id, etag: tag, body },
      {
        onSuccess: () => {
          say(`${key} is saved`)
          onClose()
        },
      },
    )
  }
  return (
    <form
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        submit(etag)
      }}
    >
      <Field label="Name" hint="Letters, digits and _; as code reads it." fault={faultAt(save.error, '/key')}>
        <input
          required
          value={key}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setKey(event.target.value)}
        />
      </Field>
      <Field
        label="Value"
        hint={before?.isSensitive ? 'It is not shown. What you write replaces it; empty keeps it.' : undefined}
        fault={faultAt(save.error, '/value')}
      >
        <textarea
          data-code
          rows={isSensitive ? 2 : 6}
          value={value}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setValue(event.target.value)}
        />
      </Field>
      {before === undefined ? (
        <label className={layout.check}>
          <input type="checkbox" checked={isSensitive} onChange={(event) => setSensitive(event.target.checked)} />
          <span>
            Secret
            <br />
            <span className={layout.soft}>
              Kept encrypted, masked in logs and never shown again. This can&apos;t be changed later.
            </span>
          </span>
        </label>
      ) : null}
      <ChangedMeanwhile
        what="variable"
        problem={changedMeanwhile(save.error)}
        onOverwrite={(newest) => {
          setEtag(newest)
          submit(newest)
        }}
      />
      {changedMeanwhile(save.error) === undefined && <FormFault error={save.error} paths={['/key', '/value']} />}
      <FormActions
        onCancel={onClose}
        isBusy={save.isPending}
        disabled={!mayBuild}
        title={mayBuild ? undefined : 'Needs the scope build'}
      >
        Save
      </FormActions>
    </form>
  )
}
