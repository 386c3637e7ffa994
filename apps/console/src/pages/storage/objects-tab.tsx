import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  isFolder,
  objectAddress,
  useFolder,
  useObject,
  type StorageEntry,
  type StoredObject,
  useDeleteObject,
} from '../../api/queries/storage.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Table } from '../../parts/table.tsx'
import { size, Time } from '../../parts/time.tsx'
import { lastName, stepsOf } from '../../rules/paths.ts'
import { useMay } from '../../session/session-context.ts'
import { useView } from '../../shell/view.ts'
import { ObjectDialog } from './object-dialog.tsx'
import { SignedLink } from './signed-link.tsx'
import { UploadArea } from './upload-area.tsx'
import styles from './storage.module.css'
import { Deletion } from '../../parts/deletion.tsx'

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
  const name = view.get('object')
  const listed = entries?.find((entry): entry is StoredObject => !isFolder(entry) && entry.name === name)
  const named = useObject(team, name, name !== '' && entries !== undefined && listed === undefined)
  const shown = name === '' ? undefined : (listed ?? named.data)
  return (
    <UploadArea team={team} prefix={prefix} path={<FolderPath prefix={prefix} />}>
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

/** Asks before a file goes for good. */
function DeleteObject({ team, name, onClose }: { team: string; name: string; onClose: () => void }) {
  const removal = useDeleteObject(team)
  return (
    <Deletion title="Delete the file?" name={name} id={name} removal={removal} onClose={onClose}>
      <code>{name}</code> is gone for good, and links to it lead nowhere.
    </Deletion>
  )
}

/** The steps from the top to a folder, each a link. */
function FolderPath({ prefix }: { prefix: string }) {
  return (
    <nav aria-label="Folder" className={styles.path}>
      <Link to="." search={{}} activeOptions={{ exact: true }}>
        All files
      </Link>
      {stepsOf(prefix).map(({ name, path }) => (
        <span key={path}>
          {' / '}
          <Link to="." search={{ prefix: `${path}/` }} activeOptions={{ exact: true }}>
            {name}
          </Link>
        </span>
      ))}
    </nav>
  )
}
