import { useParams } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useChangeProcess } from '../../api/queries/process-settings.ts'
import { useProcessRecord, type Process, type ProcessRecord } from '../../api/queries/processes.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Card } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { ChangedMeanwhile } from './changed-meanwhile.tsx'
import { MarkdownText } from './markdown-text.tsx'
import { SaveBar } from './save-bar.tsx'
import { useDraft } from './use-draft.ts'
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

const readmeOf = ({ readme }: Process) => ({ readme: readme ?? '' })

function Readme({ team, slug, record }: { team: string; slug: string; record: ProcessRecord }) {
  const [isEditing, setEditing] = useState(false)
  const mayBuild = useMay('build')
  const { readme, description } = record.process
  if (isEditing) return <ReadmeEditor team={team} slug={slug} record={record} onClose={() => setEditing(false)} />
  const edit = mayBuild && <Button onClick={() => setEditing(true)}>{readme ? 'Edit' : 'Write a readme'}</Button>
  if (!readme)
    return (
      <Empty title="This process has no readme">
        {description && <p>{description}</p>}
        <p className={styles.soft}>
          Say what it does, what it needs and whom to ask. It is Markdown, and versions keep it.
        </p>
        {edit}
      </Empty>
    )
  return (
    <Card title="Readme" actions={edit}>
      <MarkdownText text={readme} />
    </Card>
  )
}

interface EditorProps {
  team: string
  slug: string
  record: ProcessRecord
  onClose: () => void
}

function ReadmeEditor({ team, slug, record, onClose }: EditorProps) {
  const draft = useDraft(record, readmeOf)
  const change = useChangeProcess(team, slug)
  const say = useToast()
  const { readme } = draft.values
  const latest = useRef(readme)
  useEffect(() => {
    latest.current = readme
  }, [readme])
  const save = () =>
    change.mutate(
      { input: { readme: readme.trim() === '' ? null : readme }, etag: draft.etag },
      {
        onSuccess: (written) => {
          draft.saved({ readme }, written)
          say('The readme is saved')
          // What was typed since then is not saved yet.
          if (latest.current === readme) onClose()
        },
      },
    )
  return (
    <form
      className={styles.tab}
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <div className={styles.pair}>
        <Card title="Edit" actions={!draft.isDirty && <Button onClick={onClose}>Close</Button>}>
          <Field label="Readme, as Markdown">
            <textarea
              data-code
              rows={24}
              value={readme}
              onChange={(event) => draft.set({ readme: event.target.value })}
            />
          </Field>
        </Card>
        <Card title="Preview">
          <MarkdownText text={readme} />
        </Card>
      </div>
      <ChangedMeanwhile process={record.process} draft={draft} names={{ readme: 'Readme' }} />
      <SaveBar
        isDirty={draft.isDirty}
        isBusy={change.isPending}
        isBlocked={draft.theirs !== undefined}
        error={change.error}
        onDrop={() => {
          draft.takeTheirs()
          onClose()
        }}
      />
    </form>
  )
}
