import { useRef, useState } from 'react'
import { useWriteFile } from '../../api/queries/sandbox-files.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { Progress } from '../../parts/progress.tsx'
import { within } from '../../rules/paths.ts'
import { useToast } from '../../shell/toasts.tsx'

interface Underway {
  name: string
  sent: number
  size: number
  cancel: () => void
}

/** Writes files of this computer into a directory of a sandbox, one after the other. */
export function FileUpload({ team, sandboxId, path }: { team: string; sandboxId: string; path: string }) {
  const input = useRef<HTMLInputElement>(null)
  const write = useWriteFile(team, sandboxId)
  const [underway, setUnderway] = useState<Underway>()
  const say = useToast()

  const upload = async (files: File[]) => {
    const abort = new AbortController()
    try {
      for (const file of files) {
        const state = { name: file.name, size: file.size, cancel: () => abort.abort() }
        setUnderway({ ...state, sent: 0 })
        const onProgress = (sent: number) => setUnderway({ ...state, sent })
        await write.mutateAsync({ path: within(path, file.name), content: file, signal: abort.signal, onProgress })
      }
      say(files.length === 1 ? `${files[0]?.name} is uploaded` : `${files.length} files are uploaded`)
    } catch (error) {
      say(error instanceof Error ? error : String(error))
    } finally {
      setUnderway(undefined)
    }
  }
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          void upload([...(event.target.files ?? [])])
          event.target.value = ''
        }}
      />
      {underway === undefined ? (
        <Button onClick={() => input.current?.click()}>
          <icons.upload /> Upload
        </Button>
      ) : (
        <span className={layout.row}>
          <Progress label={`Upload of ${underway.name}`} value={underway.sent} max={underway.size} />
          <Button onClick={underway.cancel}>Cancel</Button>
        </span>
      )}
    </>
  )
}
