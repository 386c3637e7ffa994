import { useState } from 'react'
import type { Process } from '../../api/queries/processes.ts'
import {
  useAliases,
  useAllVersions,
  useMoveAliases,
  usePublish,
  type Alias,
  type Version,
} from '../../api/queries/versions.ts'
import { Dialog, FormActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { Fault, isShown } from '../../parts/page-states.tsx'
import { nextTag } from '../../rules/next-tag.ts'
import { useToast } from '../../shell/toasts.tsx'
import { VersionDiff } from './version-diff.tsx'

interface Props {
  team: string
  slug: string
  process: Process
  onClose: () => void
}

/** Publishes the source that is given as a version, with what has changed since the last one, and moves aliases to it. */
export function PublishDialog({ team, slug, process, onClose }: Props) {
  const aliases = useAliases(team, slug)
  const versions = useAllVersions(team, process.id)
  const error = versions.error ?? aliases.error
  const areThere = isShown(versions) && isShown(aliases)
  // A dialog gives the focus to its first field as it opens, so it opens with its fields.
  if (error === null && !areThere) return null
  return (
    <Dialog title="Publish the current source" isOpen isWide={versions.data?.length !== 0} onClose={onClose}>
      {areThere ? (
        <Form {...{ team, slug, process, onClose }} aliases={aliases.data} versions={versions.data} />
      ) : (
        error && <Fault error={error} />
      )}
    </Dialog>
  )
}

interface FormProps extends Props {
  aliases: readonly Alias[]
  /** The newest first. */
  versions: readonly Version[]
}

function Form({ team, slug, process: given, aliases, versions, onClose }: FormProps) {
  // What is begun with stays, as the list has the new one before the aliases have moved.
  const [last] = useState(() => versions[0]?.tag)
  // What the diff shows is what is published, also where somebody saves meanwhile.
  const [process] = useState(given)
  const [tag, setTag] = useState(last === undefined ? 'v1' : nextTag(last))
  const [comment, setComment] = useState('')
  const publish = usePublish(team, slug)
  const move = useMoveAliases(team, slug)
  const [moved, setMoved] = useState<ReadonlySet<string>>(new Set())
  const say = useToast()
  const done = (id: string) => {
    const chosen = aliases.filter((alias) => moved.has(alias.id))
    const names = chosen.map(({ name }) => name).join(', ')
    if (chosen.length === 0) return end(`${tag} is published`)
    move.mutate(
      { aliases: chosen, versionId: id },
      {
        onSuccess: () => end(`${tag} is published, and ${names} leads to it`),
        onError: (error) => end(new Error(`${tag} is published, but ${names} was not moved: ${error.message}`)),
      },
    )
  }
  const end = (outcome: string | Error) => {
    say(outcome)
    onClose()
  }
  return (
    <form
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        const { sourceCode, parametersSchema, readme } = process
        publish.mutate(
          { tag, sourceCode, parametersSchema, readme, ...(comment !== '' && { comment }) },
          { onSuccess: ({ id }) => done(id) },
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
        <Field label="Comment" hint="What is new in it." fault={faultAt(publish.error, '/comment')}>
          <input value={comment} autoComplete="off" onChange={(event) => setComment(event.target.value)} />
        </Field>
      </div>
      {aliases.length > 0 && (
        <fieldset className={layout.fieldset}>
          <legend>Move to it</legend>
          {aliases.map(({ id, name, versionId }) => (
            <label key={id} className={layout.check}>
              <input type="checkbox" checked={moved.has(id)} onChange={() => setMoved(turned(moved, id))} />
              <span>
                {name}{' '}
                <span className={layout.soft}>
                  leads to {versions.find((version) => version.id === versionId)?.tag ?? versionId}
                </span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {last !== undefined && <VersionDiff {...{ team, slug, process }} before={last} after={undefined} />}
      <FormFault error={publish.error} paths={['/tag', '/comment']} />
      <FormActions onCancel={onClose} isBusy={publish.isPending || move.isPending}>
        Publish
      </FormActions>
    </form>
  )
}

function turned(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set)
  if (!next.delete(id)) next.add(id)
  return next
}
