import { useState } from 'react'
import type { Process } from '../../api/queries/processes.ts'
import { changedMeanwhile } from '../../api/tagged.ts'
import { useAlias, useSaveAlias, type Alias, type Version } from '../../api/queries/versions.ts'
import { ChangedMeanwhile } from '../../parts/changed-meanwhile.tsx'
import { Dialog, FormActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { useToast } from '../../shell/toasts.tsx'
import { VersionDiff } from './version-diff.tsx'

interface Props {
  team: string
  slug: string
  process: Process
  versions: readonly Version[]
  /** Absent: a new one. */
  alias: Alias | undefined
  onClose: () => void
}

/** Creates an alias, or moves one, with what that changes for those who name it. */
export function AliasDialog({ alias, onClose, ...rest }: Props) {
  const stored = useAlias(rest.team, rest.slug, alias?.id)
  return (
    <Dialog
      title={alias === undefined ? 'New alias' : `Move ${alias.name}`}
      isOpen
      isWide={alias !== undefined}
      onClose={onClose}
    >
      {alias === undefined ? (
        <Form {...rest} alias={undefined} onClose={onClose} />
      ) : (
        <Answer of={stored} what="alias">
          {({ record, etag }) => <Form {...rest} alias={record} etag={etag} onClose={onClose} />}
        </Answer>
      )}
    </Dialog>
  )
}

function Form({ team, slug, process, versions, alias, etag, onClose }: Props & { etag?: string }) {
  // What somebody else does meanwhile is found by the tag, and shown.
  const [before] = useState({ alias, etag })
  const [name, setName] = useState(alias?.name ?? '')
  const [versionId, setVersionId] = useState(alias?.versionId ?? versions[0]?.id ?? '')
  const save = useSaveAlias(team, slug)
  const say = useToast()
  const present = before.alias?.versionId
  const isMoved = present !== undefined && present !== versionId
  const submit = (tag: string | undefined) =>
    save.mutate(
      { id: before.alias?.id, etag: tag, name, versionId },
      {
        onSuccess: () => {
          say(`${name} leads to ${versions.find(({ id }) => id === versionId)?.tag ?? 'the version'}`)
          onClose()
        },
      },
    )
  return (
    <form
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        submit(before.etag)
      }}
    >
      {alias === undefined && (
        <Field label="Name" hint="Such as live." fault={faultAt(save.error, '/name')}>
          <input
            required
            value={name}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
      )}
      <Field label="Leads to" fault={faultAt(save.error, '/versionId')}>
        <select value={versionId} onChange={(event) => setVersionId(event.target.value)}>
          {!versions.some(({ id }) => id === versionId) && <option value={versionId}>{versionId}</option>}
          {versions.map(({ id, tag }) => (
            <option key={id} value={id}>
              {id === present ? `${tag} (now)` : tag}
            </option>
          ))}
        </select>
      </Field>
      {isMoved && <VersionDiff {...{ team, slug, process }} before={present} after={versionId} />}
      <ChangedMeanwhile what="alias" problem={changedMeanwhile(save.error)} onOverwrite={submit} />
      {changedMeanwhile(save.error) === undefined && <FormFault error={save.error} paths={['/name', '/versionId']} />}
      <FormActions onCancel={onClose} isBusy={save.isPending} disabled={alias !== undefined && !isMoved}>
        {alias === undefined ? 'Create' : 'Move'}
      </FormActions>
    </form>
  )
}
