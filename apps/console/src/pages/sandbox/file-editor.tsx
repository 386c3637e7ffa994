import { useState } from 'react'
import { fileAddress, useFileText, useWriteFile } from '../../api/queries/sandbox-files.ts'
import { ProblemError } from '../../api/problem.ts'
import { Button } from '../../parts/button.tsx'
import { FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { lastName } from '../../rules/paths.ts'
import { useToast } from '../../shell/toasts.tsx'
import { FilePath } from './file-path.tsx'
import styles from './sandbox.module.css'

interface Props {
  team: string
  sandboxId: string
  path: string
  onClose: () => void
}

/** A small text file of a sandbox, to read and to change; one that is not there yet begins empty. */
export function FileEditor({ team, sandboxId, path, onClose }: Props) {
  const file = useFileText(team, sandboxId, path)
  const isNew = file.error instanceof ProblemError && file.error.problem.code === 'path_not_found'
  const found = isNew ? { text: '' } : file.data
  // What was found first is edited: a later read, which forgets the error while it is under way, takes no text away.
  const [first, setFirst] = useState(found)
  if (first === undefined && found !== undefined) setFirst(found)
  const name = lastName(path)
  return (
    <Answer of={{ data: first, error: file.error, refetch: file.refetch }} what="file">
      {({ text }) =>
        text === undefined ? (
          <Empty title={`${name} is no text`}>
            <a href={fileAddress(team, sandboxId, path)} download={name}>
              Download
            </a>
            <Button onClick={onClose}>Back</Button>
          </Empty>
        ) : (
          <Editor {...{ team, sandboxId, path, onClose }} before={text} />
        )
      }
    </Answer>
  )
}

function Editor({ team, sandboxId, path, onClose, before }: Props & { before: string }) {
  const [text, setText] = useState(before)
  const [saved, setSaved] = useState(before)
  const write = useWriteFile(team, sandboxId)
  const say = useToast()
  const save = () => {
    if (write.isPending) return
    write.mutate(
      { path, content: new Blob([text]) },
      {
        onSuccess: () => {
          setSaved(text)
          say(`${lastName(path)} is saved`)
        },
      },
    )
  }
  return (
    <div className={layout.stack}>
      <div className={`${layout.row} ${layout.spread}`}>
        <span className={layout.row}>
          <FilePath path={path.slice(0, path.lastIndexOf('/')) || '/'} />
          <strong>{lastName(path)}</strong>
        </span>
        <span className={layout.row}>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" isBusy={write.isPending} disabled={text === saved && before !== ''} onClick={save}>
            Save
          </Button>
        </span>
      </div>
      <FormFault error={write.error} />
      <textarea
        data-code
        className={styles.editor}
        aria-label={`Text of ${path}`}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (!(event.ctrlKey || event.metaKey) || event.key !== 's') return
          event.preventDefault()
          save()
        }}
      />
    </div>
  )
}
