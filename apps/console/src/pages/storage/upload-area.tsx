import { useRef, useState, type ReactNode } from 'react'
import { objectNamed } from '../../api/queries/storage.ts'
import { startUpload } from '../../api/upload-list.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { OpenUploads } from './open-uploads.tsx'
import { UploadList } from './upload-list.tsx'
import styles from './storage.module.css'

interface Chosen {
  /** With its folder. */
  name: string
  file: File
}

interface Props {
  team: string
  prefix: string
  path: ReactNode
  children: ReactNode
}

/** A folder into which files are dropped or chosen; it asks before one takes the place of another. */
export function UploadArea({ team, prefix, path, children }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const mayBuild = useMay('build')
  const [isOver, setOver] = useState(false)
  const [asked, setAsked] = useState<Chosen[]>([])
  const [looking, setLooking] = useState(0)
  const say = useToast()

  const start = ({ name, file }: Chosen) => startUpload(team, name, file)
  /** What the folder shows may be a part of it, or old. */
  const take = async (files: readonly File[]) => {
    setLooking((before) => before + 1)
    const failed: { name: string; why: string }[] = []
    const taken = files.map(async (file): Promise<Chosen[]> => {
      const chosen = { name: prefix + file.name, file }
      try {
        if ((await objectNamed(team, chosen.name)) !== null) return [chosen]
        start(chosen)
      } catch (error) {
        failed.push({ name: file.name, why: error instanceof Error ? error.message : String(error) })
      }
      return []
    })
    const others = (await Promise.all(taken)).flat()
    const names = failed.map(({ name }) => name).join(', ')
    if (failed[0]) say(new Error(`${names} ${failed.length === 1 ? 'was' : 'were'} not uploaded. ${failed[0].why}`))
    setAsked((before) => [...before, ...others])
    setLooking((before) => before - 1)
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
        if (mayBuild) void take([...event.dataTransfer.files])
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
            void take([...(event.target.files ?? [])])
            event.target.value = ''
          }}
        />
        <Button
          look="primary"
          disabled={!mayBuild}
          isBusy={looking > 0}
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
        title={asked.length === 1 ? `Replace ${asked[0]?.file.name}?` : `Replace ${asked.length} files?`}
        isOpen={asked.length > 0}
        onClose={() => setAsked([])}
        verb="Replace"
        onConfirm={() => {
          asked.forEach(start)
          setAsked([])
        }}
      >
        What has the same name in this folder is gone then.
      </Confirm>
    </div>
  )
}
