import { Link, useParams } from '@tanstack/react-router'
import { useStorageUsage } from '../../api/queries/storage.ts'
import layout from '../../parts/layout.module.css'
import { Page } from '../../parts/page.tsx'
import { Progress } from '../../parts/progress.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { size } from '../../parts/time.tsx'
import { useView } from '../../shell/view.ts'
import { DatastoreTab } from './datastore-tab.tsx'
import { ObjectsTab } from './objects-tab.tsx'

/** What the team keeps: files in folders, and the small values of the datastore. */
export function StoragePage() {
  const { team } = useParams({ from: '/t/$team/storage' })
  const view = useView()
  const tab = view.get('tab')
  const isDatastore = tab === 'datastore'
  const { data: usage } = useStorageUsage(team)
  return (
    <Page
      title="Storage"
      call={
        isDatastore
          ? { path: '/datastore', query: { prefix: view.get('key'), page: view.get('page') } }
          : { path: '/storage/objects', query: { prefix: view.get('prefix'), delimiter: '/' } }
      }
      note={
        usage && (
          <span className={layout.soft}>
            <Progress
              label="Storage in use"
              value={usage.storedBytes}
              max={usage.allowedBytes}
              tone={usage.storedBytes > usage.allowedBytes * 0.9 ? 'bad' : undefined}
              note={`${size(usage.storedBytes)} of ${size(usage.allowedBytes)}, ${filesOf(usage.objects)}`}
            />
          </span>
        )
      }
      tabs={
        <Tabs label="Storage">
          <Link to="." search={{}} activeOptions={{ exact: true }} aria-current={isDatastore ? undefined : 'page'}>
            Files
          </Link>
          <Link
            to="."
            search={{ tab: 'datastore' }}
            activeOptions={{ exact: true }}
            aria-current={isDatastore ? 'page' : undefined}
          >
            Datastore
          </Link>
        </Tabs>
      }
    >
      {isDatastore ? <DatastoreTab team={team} /> : <ObjectsTab team={team} />}
    </Page>
  )
}

const filesOf = (count: number): string => (count === 1 ? '1 file' : `${count.toLocaleString('en')} files`)
