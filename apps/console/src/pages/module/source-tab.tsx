import { useMemo, useState } from 'react'
import { useModule, useSaveModule, type Module } from '../../api/queries/modules.ts'
import { changedMeanwhile, type Tagged } from '../../api/tagged.ts'
import { Button } from '../../parts/button.tsx'
import { ChangedMeanwhile } from '../../parts/changed-meanwhile.tsx'
import { CodeEditor } from '../../parts/code-editor.tsx'
import { Diff } from '../../parts/diff.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { UnsavedOffer, unsavedWords } from '../../parts/unsaved-offer.tsx'
import { useEdit } from '../../parts/use-edit.ts'
import { useCtrl } from '../../parts/use-keys.ts'
import { codeLanguageOf } from '../../rules/languages.ts'
import { isUnsaved } from '../../rules/unsaved.ts'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'

/** A name that is not saved, and the tag of the record that it was written for. */
interface NewName {
  name: string
  etag: string
}

/** The source of a module, saved only over what it was read as, and kept in the browser until then. */
export function SourceTab({ team, module }: { team: string; module: Tagged<Module> }) {
  const { record, etag } = module
  const { id, programmingLanguage } = record
  const stored = useMemo(() => ({ text: record.sourceCode, etag }), [record.sourceCode, etag])
  const editing = useEdit(team, id, stored)
  const { edit, setText, setEdit } = editing
  const [newName, setNewName] = useState<NewName>()
  const [isCompared, setCompared] = useState(false)
  const newest = useModule(team, id)
  const save = useSaveModule(team, id)
  const mayBuild = useMay('build')
  const say = useToast()
  const language = codeLanguageOf(programmingLanguage)
  const name = newName?.name ?? record.name
  const isChanged = isUnsaved(edit) || name !== record.name
  const conflict = changedMeanwhile(save.error)

  const submit = (over: string | undefined) =>
    save.mutate(
      { etag: over, body: { name, sourceCode: edit.text } },
      {
        onSuccess: (saved) => {
          editing.saved(edit.text, { text: saved.record.sourceCode, etag: saved.etag })
          setNewName(undefined)
          setCompared(false)
          say(saved.record.warnings?.length ? 'Saved, with warnings' : 'The module is saved')
        },
        onError: () => void newest.refetch(),
      },
    )
  const submitOwn = () => submit(newName?.etag ?? edit.base.etag)
  useCtrl('s', () => {
    if (mayBuild && isChanged && !save.isPending) submitOwn()
  })
  return (
    <form
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        submitOwn()
      }}
    >
      <div className={`${layout.row} ${layout.bottom} ${layout.spread}`}>
        <Field label="Name" fault={faultAt(save.error, '/name')}>
          <input
            required
            disabled={!mayBuild}
            spellCheck={false}
            value={name}
            onChange={(event) => setNewName({ name: event.target.value, etag: newName?.etag ?? edit.base.etag })}
          />
        </Field>
        {isUnsaved(edit) && <span className={layout.soft}>{unsavedWords(editing)}</span>}
        <Button
          type="submit"
          look="primary"
          isBusy={save.isPending}
          disabled={!mayBuild || !isChanged}
          title={mayBuild ? 'Ctrl+S' : 'Needs the scope build'}
        >
          Save
        </Button>
      </div>
      <UnsavedOffer editing={editing} />
      <ChangedMeanwhile what="module" problem={conflict} onOverwrite={submit}>
        <Button aria-pressed={isCompared} onClick={() => setCompared(!isCompared)}>
          Compare with theirs
        </Button>
        {newest.data && (
          <Button
            onClick={() => {
              const { sourceCode: text } = newest.data.record
              setEdit({ text, base: { text, etag: newest.data.etag } })
              setNewName(undefined)
              save.reset()
            }}
          >
            Take theirs
          </Button>
        )}
      </ChangedMeanwhile>
      {conflict && isCompared && newest.data && (
        <Diff before={newest.data.record.sourceCode} after={edit.text} names={['Theirs', 'Mine']} language={language} />
      )}
      {conflict === undefined && <FormFault error={save.error} paths={['/name']} />}
      {record.warnings?.map(({ message }) => (
        <p key={message} className={layout.notice}>
          {message}
        </p>
      ))}
      <CodeEditor
        label={`Source of ${name}`}
        language={language}
        value={edit.text}
        onChange={mayBuild ? setText : undefined}
        height={{ min: 320, max: 900 }}
      />
    </form>
  )
}
