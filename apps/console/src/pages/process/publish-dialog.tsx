import { useState } from 'react'
import type { Process } from '../../api/queries/processes.ts'
import { usePublish } from '../../api/queries/versions.ts'
import { Dialog, FormActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { nextTag } from '../../rules/next-tag.ts'
import { useToast } from '../../shell/toasts.tsx'
import { VersionDiff } from './version-diff.tsx'

interface Props {
  team: string
  slug: string
  process: Process
  /** The tag of the newest version. */
  last: string | undefined
  onClose: () => void
}

/** Publishes the source that is shown as a version, with what has changed since the last one. */
export function PublishDialog({ last, onClose, ...rest }: Props) {
  return (
    <Dialog title="Publish the current source" isOpen isWide={last !== undefined} onClose={onClose}>
      <Form last={last} onClose={onClose} {...rest} />
    </Dialog>
  )
}

function Form({ team, slug, process: given, last, onClose }: Props) {
  // What the diff shows is what is published, also where somebody saves meanwhile.
  const [process] = useState(given)
  const [tag, setTag] = useState(last === undefined ? 'v1' : nextTag(last))
  const [comment, setComment] = useState('')
  const publish = usePublish(team, slug)
  const say = useToast()
  return (
    <form
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        const { sourceCode, parametersSchema, readme } = process
        publish.mutate(
          { tag, sourceCode, parametersSchema, readme, ...(comment !== '' && { comment }) },
          {
            onSuccess: () => {
              say(`${tag} is published`)
              onClose()
            },
          },
        )
      }}
    >
      <div className={layout.columns}>
        <Field label="Tag" hint="How callers name it, such as v2." fault={faultAt(publish.error, '/tag')}>
          <input
            required
            value={tag}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setTag(event.target.value)}
          />
        </Field>
        <Field label="Description" hint="What is new in it." fault={faultAt(publish.error, '/comment')}>
          <input value={comment} autoComplete="off" onChange={(event) => setComment(event.target.value)} />
        </Field>
      </div>
      {last !== undefined && <VersionDiff {...{ team, slug, process }} before={last} after={undefined} />}
      <FormFault error={publish.error} paths={['/tag', '/comment']} />
      <FormActions onCancel={onClose} isBusy={publish.isPending}>
        Publish
      </FormActions>
    </form>
  )
}
