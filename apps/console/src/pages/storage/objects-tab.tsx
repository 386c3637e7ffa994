import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { isFolder, objectAddress, useFolder, type StorageEntry, type StoredObject } from '../../api/queries/storage.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Table } from '../../parts/table.tsx'
import { size, Time } from '../../parts/time.tsx'
import { lastName } from '../../rules/paths.ts'
import { useMay } from '../../session/session-context.ts'
import { useView } from '../../shell/view.ts'
import { DeleteObject } from './delete-object.tsx'
import { FolderPath } from './folder-path.tsx'
import { ObjectDialog } from './object-dialog.tsx'
import { SignedLink } from './signed-link.tsx'
import { UploadArea } from './upload-area.tsx'
import styles from './storage.module.css'

interface Chosen {
  what: 'delete' | 'link'
  object: StoredObject
}

/** The files of a folder. */
export function ObjectsTab({ team }: { team: string }) {
  const view = useView()
  const prefix = view.get('prefix')
  const folder = useFolder(team, prefix)
  const [chosen, setChosen] = useState<Chosen>()
  const entries = folder.data?.pages.flat()
  const shown = entries?.find((entry) => !isFolder(entry) && entry.name === view.get('object')) as
    | StoredObject
    | undefined
  return (
    <UploadArea team={team} prefix={prefix} known={entries ?? []} path={<FolderPath prefix={prefix} />}>
      <Answer of={{ ...folder, data: entries }} what="files">
        {(all) =>
          all.length === 0 ? (
            <Empty title={prefix === '' ? 'No files yet' : 'Nothing is in this folder'}>
              <span>Drop files here, or choose Upload. A folder is there while a file is in it.</span>
              <CurlHint team={team} method="POST" path="/storage/objects" form="file=@report.csv" />
            </Empty>
          ) : (
            <Entries team={team} prefix={prefix} entries={all} onChoose={setChosen} />
          )
        }
      </Answer>
      {folder.hasNextPage && (
        <Button isBusy={folder.isFetchingNextPage} onClick={() => void folder.fetchNextPage()}>
          More
        </Button>
      )}
      {shown && <ObjectDialog team={team} object={shown} onClose={() => view.set({ object: '' })} />}
      {chosen?.what === 'delete' && (
        <DeleteObject team={team} name={chosen.object.name} onClose={() => setChosen(undefined)} />
      )}
      {chosen?.what === 'link' && (
        <SignedLink team={team} name={chosen.object.name} onClose={() => setChosen(undefined)} />
      )}
    </UploadArea>
  )
}

interface EntriesProps {
  team: string
  prefix: string
  entries: StorageEntry[]
  onChoose: (chosen: Chosen) => void
}

function Entries({ team, prefix, entries, onChoose }: EntriesProps) {
  const mayBuild = useMay('build')
  const view = useView()
  return (
    <Table
      caption={`Files of ${prefix || 'the top folder'}`}
      rows={entries}
      keyOf={(entry) => (isFolder(entry) ? entry.prefix : entry.name)}
      columns={[
        {
          name: 'Name',
          isMain: true,
          cell: (entry) =>
            isFolder(entry) ? (
              <span className={styles.name}>
                <icons.folder />
                <Link to="." search={{ prefix: entry.prefix }}>
                  {lastName(entry.prefix)}/
                </Link>
              </span>
            ) : (
              <button type="button" className={layout.linkish} onClick={() => view.set({ object: entry.name })}>
                {entry.name.slice(prefix.length)}
              </button>
            ),
        },
        { name: 'Size', align: 'end', cell: (entry) => (isFolder(entry) ? '–' : size(entry.size)) },
        { name: 'Type', cell: (entry) => (isFolder(entry) ? 'folder' : entry.contentType) },
        { name: 'Changed', cell: (entry) => (isFolder(entry) ? '–' : <Time at={entry.updatedAt} />) },
        {
          name: 'Actions',
          align: 'end',
          cell: (entry) =>
            !isFolder(entry) && (
              <span className={styles.actions}>
                <a
                  href={objectAddress(team, entry.name)}
                  download={lastName(entry.name)}
                  aria-label={`Download ${entry.name}`}
                  title="Download"
                  style={{ display: 'inline-grid', placeContent: 'center', width: 32, height: 32 }}
                >
                  <icons.download />
                </a>
                <Button
                  look="quiet"
                  aria-label={`Link to ${entry.name}`}
                  title="A link for others"
                  disabled={!mayBuild}
                  onClick={() => onChoose({ what: 'link', object: entry })}
                >
                  <icons.link />
                </Button>
                <Button
                  look="quiet"
                  aria-label={`Delete ${entry.name}`}
                  title="Delete"
                  disabled={!mayBuild}
                  onClick={() => onChoose({ what: 'delete', object: entry })}
                >
                  <icons.trash />
                </Button>
              </span>
            ),
        },
      ]}
    />
  )
}
