import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useChangeProcess } from '../../api/queries/process-settings.ts'
import { useProcessRecord, type Process, type ProcessRecord } from '../../api/queries/processes.ts'
import { changedMeanwhile } from '../../api/tagged.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Card } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { UnsavedOffer, unsavedWords } from '../../parts/unsaved-offer.tsx'
import { useEdit, type Editing } from '../../parts/use-edit.ts'
import { isOvertaken, isUnsaved, readmeId, type Stored } from '../../rules/unsaved.ts'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { ChangedMeanwhile } from './changed-meanwhile.tsx'
import { MarkdownText } from './markdown-text.tsx'
import { SaveBar } from './save-bar.tsx'
import styles from './tab.module.css'

/** What people write about a process, as Markdown. */
export function ReadmeTab() {
  const { team, slug } = useParams({ from: '/t/$team/processes/$slug' })
  const record = useProcessRecord(team, slug)
  return (
    <Answer of={record} what="readme">
      {(known) => <Readme key={known.process.id} team={team} slug={slug} record={known} />}
    </Answer>
  )
}

const textOf = ({ readme }: Process): string => readme ?? ''

function Readme({ team, slug, record }: { team: string; slug: string; record: ProcessRecord }) {
  const { id, readme, description } = record.process
  const stored = { text: textOf(record.process), etag: record.etag }
  const editing = useEdit(team, readmeId(id), stored)
  const [isEditing, setEditing] = useState(false)
  const mayBuild = useMay('build')
  if (mayBuild && (isEditing || isUnsaved(editing.edit)))
    return <ReadmeEditor {...{ team, slug, record, stored, editing, setEditing }} />
  const edit = mayBuild && <Button onClick={() => setEditing(true)}>{readme ? 'Edit' : 'Write a readme'}</Button>
  return (
    <>
      {mayBuild && <UnsavedOffer editing={editing} />}
      {readme ? (
        <Card title="Readme" actions={edit}>
          <MarkdownText text={readme} />
        </Card>
      ) : (
        <Empty title="This process has no readme">
          {description && <p>{description}</p>}
          <p className={styles.soft}>
            Say what it does, what it needs and whom to ask. It is Markdown, and versions keep it.
          </p>
          {edit}
        </Empty>
      )}
    </>
  )
}

interface EditorProps {
  team: string
  slug: string
  record: ProcessRecord
  stored: Stored
  editing: Editing
  /** Whether the editor stays where nothing is unsaved. */
  setEditing: (isEditing: boolean) => void
}

function ReadmeEditor({ team, slug, record, stored, editing, setEditing }: EditorProps) {
  const { edit, setEdit } = editing
  const { text } = edit
  const change = useChangeProcess(team, slug)
  const say = useToast()
  const unsaved = isUnsaved(edit)
  const isBehind = isOvertaken(edit, stored) && !change.isPending
  const setBase = (now: string) => {
    setEdit({ text: now, base: stored })
    change.reset()
  }
  const save = () =>
    change.mutate(
      { input: { readme: text.trim() === '' ? null : text }, etag: edit.base.etag },
      {
        onSuccess: ({ process, etag }) => {
          editing.saved(text, { text: textOf(process), etag })
          // What was typed since then is unsaved, and stays in the editor.
          setEditing(false)
          say('The readme is saved')
        },
      },
    )
  const draft = {
    theirs: isBehind ? (['readme'] as 'readme'[]) : changedMeanwhile(change.error) ? [] : undefined,
    changes: { readme: text },
    keepMine: () => setBase(text),
    takeTheirs: () => setBase(stored.text),
  }
  return (
    <form
      className={styles.tab}
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <UnsavedOffer editing={editing} />
      <div className={styles.pair}>
        <Card
          title="Edit"
          actions={
            unsaved ? (
              <span role="status" className={styles.soft}>
                {unsavedWords(editing)}
              </span>
            ) : (
              <Button onClick={() => setEditing(false)}>Close</Button>
            )
          }
        >
          <Field label="Readme, as Markdown">
            <textarea
              data-code
              rows={24}
              value={text}
              onChange={(event) => {
                setEditing(true)
                editing.setText(event.target.value)
              }}
            />
          </Field>
        </Card>
        <Card title="Preview">
          <MarkdownText text={text} />
        </Card>
      </div>
      <ChangedMeanwhile process={record.process} draft={draft} names={{ readme: 'Readme' }} />
      <SaveBar
        isDirty={unsaved}
        isBusy={change.isPending}
        isBlocked={draft.theirs !== undefined}
        error={change.error}
        onDrop={() => {
          setBase(stored.text)
          setEditing(false)
        }}
      />
    </form>
  )
}
