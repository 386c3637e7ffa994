import { useMemo, useState } from 'react'
import { useSaveSource, useSourceCheck } from '../../../api/queries/editing.ts'
import type { Process } from '../../../api/queries/processes.ts'
import { changedMeanwhile } from '../../../api/tagged.ts'
import { Button } from '../../../parts/button.tsx'
import { CodeEditor } from '../../../parts/code-editor.tsx'
import layout from '../../../parts/layout.module.css'
import { Fault } from '../../../parts/page-states.tsx'
import { Time } from '../../../parts/time.tsx'
import { UnsavedOffer, unsavedWords } from '../../../parts/unsaved-offer.tsx'
import { useDebounced } from '../../../parts/use-debounced.ts'
import type { Editing } from '../../../parts/use-edit.ts'
import { useCtrl } from '../../../parts/use-keys.ts'
import { codeLanguageOf } from '../../../rules/languages.ts'
import { isOvertaken, isUnsaved, type Edit, type Stored } from '../../../rules/unsaved.ts'
import { useMay } from '../../../session/session-context.ts'
import { useToast } from '../../../shell/toasts.tsx'
import { PublishDialog } from '../publish-dialog.tsx'
import { CheckNotes } from './check-notes.tsx'
import styles from './edit.module.css'
import { ThreeSides } from './three-sides.tsx'

/** How long nobody types before a source is checked. */
const CHECK_AFTER_MS = 400

interface Props {
  team: string
  process: Process
  stored: Stored
  editing: Editing
  line: number | undefined
  onLine: (line: number) => void
}

/** The source in the editor, with its faults, and its way into the service. */
export function EditorPane({ team, process, stored, editing, line, onLine }: Props) {
  const { id, slug, programmingLanguage } = process
  const { edit, setText, setEdit } = editing
  const mayBuild = useMay('build')
  const save = useSaveSource(team)
  const say = useToast()
  const { data: check } = useSourceCheck(team, programmingLanguage, useDebounced(edit.text, CHECK_AFTER_MS), mayBuild)
  const faults = useMemo(() => check?.faults ?? [], [check])
  const language = codeLanguageOf(programmingLanguage)
  const unsaved = isUnsaved(edit)
  const isBehind = isOvertaken(edit, stored)
  const [published, setPublished] = useState<Process>()

  const saveAs = (from: Edit, next?: (saved: Process) => void) => {
    if (!mayBuild || save.isPending || !isUnsaved(from)) return
    save.mutate(
      { id, edit: from },
      {
        onSuccess: ({ record, etag }) => {
          editing.saved(from.text, { text: record.sourceCode, etag })
          say(`${slug} is saved`)
          next?.(record)
        },
      },
    )
  }
  useCtrl('s', () => saveAs(edit))

  return (
    <section aria-label="Source" className={styles.pane}>
      <div className={`${layout.row} ${layout.spread}`}>
        <span role="status" className={layout.soft}>
          {unsaved ? (
            unsavedWords(editing)
          ) : (
            <>
              Saved <Time at={process.updatedAt} />
            </>
          )}
        </span>
        <span className={layout.row}>
          {unsaved && (
            <Button look="quiet" onClick={() => setText(edit.base.text)}>
              Revert
            </Button>
          )}
          <Button
            isBusy={save.isPending}
            disabled={!mayBuild || !unsaved}
            title={mayBuild ? 'Ctrl+S' : 'Needs the scope build'}
            onClick={() => saveAs(edit)}
          >
            Save
          </Button>
          <Button
            look="primary"
            disabled={!mayBuild || save.isPending || isBehind}
            title={mayBuild ? undefined : 'Needs the scope build'}
            onClick={() => (unsaved ? saveAs(edit, setPublished) : setPublished(process))}
          >
            {unsaved ? 'Save and publish…' : 'Publish…'}
          </Button>
        </span>
      </div>
      <UnsavedOffer editing={editing} />
      {isBehind && !save.isPending && (
        <ThreeSides
          by={process}
          edit={edit}
          theirs={stored}
          language={language}
          onOverwrite={() => saveAs({ text: edit.text, base: stored })}
          onTakeTheirs={() => setEdit({ text: stored.text, base: stored })}
        />
      )}
      {save.error !== null && changedMeanwhile(save.error) === undefined && (
        <Fault error={save.error} onRetry={() => saveAs(edit)} />
      )}
      <div className={styles.editor}>
        <CodeEditor
          label={`Source of ${slug}`}
          language={language}
          value={edit.text}
          onChange={setText}
          readOnly={!mayBuild}
          faults={faults}
          line={line}
          height="fill"
        />
      </div>
      <CheckNotes language={programmingLanguage} own={process.manifest.dependencies} check={check} onLine={onLine} />
      {published && <PublishDialog {...{ team, slug }} process={published} onClose={() => setPublished(undefined)} />}
    </section>
  )
}
