import { useRef } from 'react'
import type { Schemas } from '../../api/client.ts'
import { useDiscardUpload, useOpenUploads } from '../../api/queries/storage.ts'
import { startUpload, useUploads } from '../../api/upload-list.ts'
import { unlike } from '../../api/upload.ts'
import { Button } from '../../parts/button.tsx'
import layout from '../../parts/layout.module.css'
import { Card } from '../../parts/page.tsx'
import { Progress } from '../../parts/progress.tsx'
import { size, Time } from '../../parts/time.tsx'
import { useToast } from '../../shell/toasts.tsx'
import styles from './storage.module.css'

/** Uploads in parts that were cut by a reload, in this or another browser: the same file goes on where it ended. */
export function OpenUploads({ team }: { team: string }) {
  const { data: open = [] } = useOpenUploads(team)
  const own = useUploads()
  const rest = open.filter(({ name }) => !own.some((one) => one.name === name && one.state !== 'failed'))
  if (rest.length === 0) return null
  return (
    <Card title="Unfinished uploads">
      <ul className={styles.uploads}>
        {rest.map((upload) => (
          <OpenUpload key={upload.id} team={team} upload={upload} />
        ))}
      </ul>
      <p className={layout.soft}>
        Choose the same file to go on; what has come is kept until 24 hours after its last part.
      </p>
    </Card>
  )
}

function OpenUpload({ team, upload }: { team: string; upload: Schemas['StorageUpload'] }) {
  const { id, name, receivedBytes, createdAt } = upload
  const input = useRef<HTMLInputElement>(null)
  const discard = useDiscardUpload(team)
  const say = useToast()
  return (
    <li>
      <span>
        {name}{' '}
        <span className={layout.soft}>
          begun <Time at={createdAt} />
        </span>
      </span>
      <Progress
        label={`Upload of ${name}`}
        value={receivedBytes}
        max={upload.size ?? receivedBytes}
        tone="warn"
        note={`${size(receivedBytes)}${upload.size === undefined ? '' : ` of ${size(upload.size)}`}`}
      />
      <span className={styles.actions}>
        <input
          ref={input}
          type="file"
          hidden
          onChange={(event) => {
            const [file] = event.target.files ?? []
            if (file === undefined) return
            const why = unlike(upload, file)
            if (why === undefined) startUpload(team, name, file, id)
            else say(new Error(why))
            event.target.value = ''
          }}
        />
        <Button onClick={() => input.current?.click()} aria-label={`Go on with ${name}`}>
          Go on
        </Button>
        <Button
          look="quiet"
          aria-label={`Discard ${name}`}
          isBusy={discard.isPending}
          onClick={() => discard.mutate(id, { onError: say })}
        >
          Discard
        </Button>
      </span>
    </li>
  )
}
