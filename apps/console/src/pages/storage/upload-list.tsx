import { clearUploads, dropUpload, useUploads, type Upload } from '../../api/upload-list.ts'
import { Button } from '../../parts/button.tsx'
import layout from '../../parts/layout.module.css'
import { Card } from '../../parts/page.tsx'
import { Progress } from '../../parts/progress.tsx'
import { size } from '../../parts/time.tsx'
import styles from './storage.module.css'

const words: Record<Upload['state'], string> = {
  waiting: 'waits',
  sending: '',
  cut: 'cut; goes on by itself',
  done: 'uploaded',
  failed: 'failed',
}

/** The uploads of this tab, each with its progress and a way to end it. */
export function UploadList({ team }: { team: string }) {
  const uploads = useUploads().filter((one) => one.team === team)
  if (uploads.length === 0) return null
  const hasDone = uploads.some(({ state }) => state === 'done')
  return (
    <Card title="Uploads" actions={hasDone && <Button onClick={clearUploads}>Clear</Button>}>
      <ul className={styles.uploads}>
        {uploads.map(({ key, name, sizeBytes, sentBytes, state, error }) => {
          const isOver = state === 'done' || state === 'failed'
          const note = `${size(sentBytes)} of ${size(sizeBytes)} ${words[state]}`
          return (
            <li key={key}>
              <span>{name}</span>
              {state === 'failed' ? (
                <span role="alert">{error?.message}</span>
              ) : (
                <Progress
                  label={`Upload of ${name}`}
                  value={sentBytes}
                  max={sizeBytes}
                  note={state === 'done' ? 'uploaded' : note}
                  tone={state === 'done' ? 'good' : state === 'cut' ? 'warn' : undefined}
                />
              )}
              <Button look="quiet" onClick={() => dropUpload(key)} aria-label={`${isOver ? 'Hide' : 'Cancel'} ${name}`}>
                {isOver ? 'Hide' : 'Cancel'}
              </Button>
            </li>
          )
        })}
      </ul>
      <p className={layout.soft}>They go on while you look at other pages of the console.</p>
    </Card>
  )
}
