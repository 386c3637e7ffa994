import { useState } from 'react'
import { usePublishModule } from '../../api/queries/modules.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { useToast } from '../../shell/toasts.tsx'

/** Publishes the saved source as a version. */
export function PublishModule({ team, moduleId }: { team: string; moduleId: string }) {
  const [tag, setTag] = useState('')
  const [comment, setComment] = useState('')
  const publication = usePublishModule(team, moduleId)
  const say = useToast()
  return (
    <form
      className={layout.tight}
      onSubmit={(event) => {
        event.preventDefault()
        publication.mutate(
          { tag, ...(comment !== '' && { comment }) },
          {
            onSuccess: () => {
              say(`${tag} is published`)
              setTag('')
              setComment('')
            },
          },
        )
      }}
    >
      <div className={`${layout.row} ${layout.bottom}`}>
        <Field label="New version" fault={faultAt(publication.error, '/tag')}>
          <input
            required
            placeholder="v1"
            autoComplete="off"
            spellCheck={false}
            value={tag}
            onChange={(event) => setTag(event.target.value)}
          />
        </Field>
        <Field label="Comment" fault={faultAt(publication.error, '/comment')}>
          <input value={comment} autoComplete="off" onChange={(event) => setComment(event.target.value)} />
        </Field>
        <Button type="submit" look="primary" isBusy={publication.isPending}>
          Publish the saved source
        </Button>
      </div>
      <FormFault error={publication.error} paths={['/tag', '/comment']} />
    </form>
  )
}
