import { useLocation, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useProcess, type Process } from '../../api/queries/processes.ts'
import type { Tagged } from '../../api/tagged.ts'
import { Answer } from '../../parts/page-states.tsx'
import { isUnsaved } from '../../rules/unsaved.ts'
import { useMay } from '../../session/session-context.ts'
import { useView } from '../../shell/view.ts'
import { EditorPane } from './edit/editor-pane.tsx'
import { RunOutcome } from './edit/run-outcome.tsx'
import { RunPanel } from './edit/run-panel.tsx'
import { useEdit } from '../../parts/use-edit.ts'
import styles from './edit/edit.module.css'

/** The source of a process beside a run of it: what is written is tried before it is saved. */
export function EditTab() {
  const { team, slug } = useParams({ from: '/t/$team/processes/$slug' })
  const process = useProcess(team, slug)
  return (
    <Answer of={process} what="source">
      {(tagged) => <EditView key={tagged.record.id} team={team} tagged={tagged} />}
    </Answer>
  )
}

function EditView({ team, tagged: { record, etag } }: { team: string; tagged: Tagged<Process> }) {
  const stored = useMemo(() => ({ text: record.sourceCode, etag }), [record.sourceCode, etag])
  const editing = useEdit(team, record.id, stored)
  const [executionId, setExecutionId] = useState<string>()
  const mayBuild = useMay('build')
  const view = useView()
  const line = Number(view.get('line')) || undefined
  const showLine = (shown: number) => view.set({ line: String(shown) }, { byTyping: true })
  const { key, call } = useLocation({ select: ({ state }) => state })
  const given = call?.kind === 'start' ? call.parameters : undefined
  const draft = mayBuild && isUnsaved(editing.edit) ? editing.edit.text : undefined
  return (
    <div className={styles.tab}>
      <EditorPane {...{ team, process: record, stored, editing, line }} onLine={showLine} />
      <div className={styles.side}>
        <RunPanel
          key={given === undefined ? undefined : key}
          {...{ team, process: record, draft, given }}
          onRun={setExecutionId}
        />
        {executionId !== undefined && <RunOutcome key={executionId} team={team} id={executionId} onLine={showLine} />}
      </div>
    </div>
  )
}
