import { useRef, useState, type ReactNode } from 'react'
import { isFolder, type StorageEntry } from '../../api/queries/storage.ts'
import { startUpload } from '../../api/upload-list.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { useMay } from '../../session/session-context.ts'
import { OpenUploads } from './open-uploads.tsx'
import { UploadList } from './upload-list.tsx'
import styles from './storage.module.css'

interface Props {
  team: string
  prefix: string
  /** What is in the folder, as far as it is loaded. */
  known: readonly StorageEntry[]
  path: ReactNode
  children: ReactNode
}

/** A folder into which files are dropped or chosen; it asks before one takes the place of another. */
export function UploadArea({ team, prefix, known, path, children }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const mayBuild = useMay('build')
  const [isOver, setOver] = useState(false)
  const [asked, setAsked] = useState<File[]>([])
  const names = new Set(known.flatMap((entry) => (isFolder(entry) ? [] : [entry.name])))
  const isThere = (file: File) => names.has(prefix + file.name)

  const start = (files: readonly File[]) => {
    for (const file of files) startUpload(team, prefix + file.name, file)
  }
  const take = (files: readonly File[]) => {
    start(files.filter((file) => !isThere(file)))
    setAsked(files.filter(isThere))
  }
  return (
    <div
      className={`${styles.drop} ${isOver ? styles.over : ''}`}
      onDragOver={(event) => {
        if (!mayBuild || !event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        if (mayBuild) take([...event.dataTransfer.files])
      }}
    >
      <div className={`${layout.row} ${layout.spread}`}>
        {path}
        <input
          ref={input}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            take([...(event.target.files ?? [])])
            event.target.value = ''
          }}
        />
        <Button
          look="primary"
          disabled={!mayBuild}
          title={mayBuild ? undefined : 'Needs the scope build'}
          onClick={() => input.current?.click()}
        >
          <icons.upload /> Upload
        </Button>
      </div>
      <UploadList team={team} />
      <OpenUploads team={team} />
      {children}
      <Confirm
        title={asked.length === 1 ? `Replace ${asked[0]?.name}?` : `Replace ${asked.length} files?`}
        isOpen={asked.length > 0}
        onClose={() => setAsked([])}
        verb="Replace"
        onConfirm={() => {
          start(asked)
          setAsked([])
        }}
      >
        What has the same name in this folder is gone then.
      </Confirm>
    </div>
  )
}
