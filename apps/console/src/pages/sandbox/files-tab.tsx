import { useState } from 'react'
import {
  EDITABLE_BYTES,
  fileAddress,
  useDirectory,
  useHome,
  useRemoveFile,
  type FileEntry,
} from '../../api/queries/sandbox-files.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Table } from '../../parts/table.tsx'
import { size, Time } from '../../parts/time.tsx'
import { within } from '../../rules/paths.ts'
import { useView } from '../../shell/view.ts'
import { FileEditor } from './file-editor.tsx'
import { FilePath } from './file-path.tsx'
import { FileUpload } from './file-upload.tsx'
import styles from './sandbox.module.css'

/** The files of a sandbox, directory by directory. */
export function FilesTab({ team, sandboxId }: { team: string; sandboxId: string }) {
  const view = useView()
  const home = useHome(team, sandboxId, view.get('path') === '')
  const folder = view.get('path') || home.data
  const file = view.get('file')
  if (folder === undefined)
    return (
      <Answer of={home} what="files">
        {() => null}
      </Answer>
    )
  if (file !== '')
    return (
      <FileEditor
        key={`${sandboxId} ${file}`}
        {...{ team, sandboxId }}
        path={file}
        onClose={() => view.set({ file: '' })}
      />
    )
  return <Directory {...{ team, sandboxId }} path={folder} />
}

function Directory({ team, sandboxId, path }: { team: string; sandboxId: string; path: string }) {
  const view = useView()
  const entries = useDirectory(team, sandboxId, path)
  const removal = useRemoveFile(team, sandboxId)
  const [doomed, setDoomed] = useState<FileEntry>()
  return (
    <div className={layout.stack}>
      <div className={`${layout.row} ${layout.spread}`}>
        <FilePath path={path} />
        <span className={layout.row}>
          <NewFile onNew={(name) => view.set({ path, file: within(path, name) })} />
          <FileUpload {...{ team, sandboxId, path }} />
        </span>
      </div>
      <Answer of={entries} what="files">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nothing is in this directory" />
          ) : (
            <Table
              caption={`Files of ${path}`}
              rows={all}
              keyOf={({ name }) => name}
              columns={[
                {
                  name: 'Name',
                  isMain: true,
                  cell: (entry) => (
                    <Name entry={entry} address={fileAddress(team, sandboxId, within(path, entry.name))} path={path} />
                  ),
                },
                { name: 'Size', align: 'end', cell: (entry) => (entry.type === 'file' ? size(entry.size) : '–') },
                { name: 'Changed', cell: ({ modifiedAt }) => <Time at={modifiedAt} /> },
                {
                  name: 'Actions',
                  align: 'end',
                  cell: (entry) => (
                    <Button
                      look="quiet"
                      aria-label={`Delete ${entry.name}`}
                      title="Delete"
                      onClick={() => {
                        removal.reset()
                        setDoomed(entry)
                      }}
                    >
                      <icons.trash />
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Answer>
      <Confirm
        title={`Delete ${doomed?.name ?? ''}?`}
        isOpen={doomed !== undefined}
        onClose={() => setDoomed(undefined)}
        verb="Delete"
        isBusy={removal.isPending}
        error={removal.error}
        onConfirm={() =>
          doomed &&
          removal.mutate(
            { path: within(path, doomed.name), isDirectory: doomed.type === 'directory' },
            { onSuccess: () => setDoomed(undefined) },
          )
        }
      >
        {doomed?.type === 'directory' ? 'All that is in it goes, too.' : undefined}
      </Confirm>
    </div>
  )
}

function Name({ entry, address, path }: { entry: FileEntry; address: string; path: string }) {
  const view = useView()
  const { name, type } = entry
  if (type === 'directory' || type === 'link')
    return (
      <span className={styles.name}>
        <icons.folder />
        <button type="button" className={layout.linkish} onClick={() => view.set({ path: within(path, name) })}>
          {name}
        </button>
        {type === 'link' && <span className={layout.soft}>link</span>}
      </span>
    )
  const isEditable = type === 'file' && entry.size <= EDITABLE_BYTES
  return (
    <span className={styles.name}>
      {isEditable ? (
        <button type="button" className={layout.linkish} onClick={() => view.set({ path, file: within(path, name) })}>
          {name}
        </button>
      ) : (
        name
      )}
      {type === 'file' && (
        <a href={address} download={name} aria-label={`Download ${name}`} title="Download">
          <icons.download />
        </a>
      )}
    </span>
  )
}

function NewFile({ onNew }: { onNew: (name: string) => void }) {
  const [name, setName] = useState('')
  return (
    <form
      className={layout.row}
      onSubmit={(event) => {
        event.preventDefault()
        onNew(name)
      }}
    >
      <input
        className={layout.filter}
        style={{ width: 160 }}
        required
        aria-label="Name of a new file"
        placeholder="New file"
        value={name}
        autoComplete="off"
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" disabled={name === ''}>
        Create
      </Button>
    </form>
  )
}
