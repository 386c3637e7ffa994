import { useBlocker } from '@tanstack/react-router'
import { useState } from 'react'
import { useModule, useSaveModule, type Module } from '../../api/queries/modules.ts'
import { changedMeanwhile, type Tagged } from '../../api/tagged.ts'
import { Button } from '../../parts/button.tsx'
import { ChangedMeanwhile } from '../../parts/changed-meanwhile.tsx'
import { CodeEditor } from '../../parts/code-editor.tsx'
import { Diff } from '../../parts/diff.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { useCtrl } from '../../parts/use-keys.ts'
import { codeLanguageOf } from '../../rules/languages.ts'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'

/** The source of a module, saved only over what it was read as. */
export function SourceTab({ team, module }: { team: string; module: Tagged<Module> }) {
  const [base, setBase] = useState(module)
  const { id, programmingLanguage } = base.record
  const [name, setName] = useState(base.record.name)
  const [source, setSource] = useState(base.record.sourceCode)
  const [isCompared, setCompared] = useState(false)
  const newest = useModule(team, id)
  const save = useSaveModule(team, id)
  const mayBuild = useMay('build')
  const say = useToast()
  const language = codeLanguageOf(programmingLanguage)
  const isChanged = source !== base.record.sourceCode || name !== base.record.name
  const conflict = changedMeanwhile(save.error)
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isChanged && current.pathname !== next.pathname && !window.confirm('Leave without saving the module?'),
    enableBeforeUnload: isChanged,
  })

  const submit = (etag: string | undefined) =>
    save.mutate(
      { etag, body: { name, sourceCode: source } },
      {
        onSuccess: (saved) => {
          setBase(saved)
          setCompared(false)
          say(saved.record.warnings?.length ? 'Saved, with warnings' : 'The module is saved')
        },
        onError: () => void newest.refetch(),
      },
    )
  useCtrl('s', () => {
    if (mayBuild && isChanged && !save.isPending) submit(base.etag)
  })
  return (
    <form
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        submit(base.etag)
      }}
    >
      <div className={`${layout.row} ${layout.bottom} ${layout.spread}`}>
        <Field label="Name" fault={faultAt(save.error, '/name')}>
          <input
            required
            disabled={!mayBuild}
            spellCheck={false}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
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
      <ChangedMeanwhile what="module" problem={conflict} onOverwrite={submit}>
        <Button aria-pressed={isCompared} onClick={() => setCompared(!isCompared)}>
          Compare with theirs
        </Button>
        {newest.data && (
          <Button
            onClick={() => {
              setBase(newest.data)
              setSource(newest.data.record.sourceCode)
              setName(newest.data.record.name)
              save.reset()
            }}
          >
            Take theirs
          </Button>
        )}
      </ChangedMeanwhile>
      {conflict && isCompared && newest.data && (
        <Diff before={newest.data.record.sourceCode} after={source} names={['Theirs', 'Mine']} language={language} />
      )}
      {conflict === undefined && <FormFault error={save.error} paths={['/name']} />}
      {base.record.warnings?.map(({ message }) => (
        <p key={message} className={layout.notice}>
          {message}
        </p>
      ))}
      <CodeEditor
        label={`Source of ${name}`}
        language={language}
        value={source}
        onChange={mayBuild ? setSource : undefined}
        height={{ min: 320, max: 900 }}
      />
    </form>
  )
}
