import { useDatastore } from '../../api/queries/storage.ts'
import { FilterField } from '../../parts/filter-field.tsx'
import layout from '../../parts/layout.module.css'
import { Pages } from '../../parts/pages.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Table } from '../../parts/table.tsx'
import { size, Time } from '../../parts/time.tsx'
import { useView } from '../../shell/view.ts'
import styles from './storage.module.css'

/** What runs keep by `svc.datastore`, key by key. */
export function DatastoreTab({ team }: { team: string }) {
  const view = useView()
  const entries = useDatastore(team, view.get('key'), Number(view.get('page')) || 0)
  return (
    <div className={layout.stack}>
      <FilterField name="key" label="Keys that begin with" />
      <Answer of={entries} what="datastore">
        {(page) =>
          page.total === 0 ? (
            <Empty title={view.get('key') === '' ? 'The datastore is empty' : 'No key begins so'}>
              <span>
                Runs keep small values by <code>svc.datastore</code>.
              </span>
            </Empty>
          ) : (
            <>
              <Table
                caption="Datastore"
                rows={page.data}
                keyOf={({ key }) => key}
                columns={[
                  { name: 'Key', cell: ({ key }) => <code>{key}</code> },
                  {
                    name: 'Value',
                    isMain: true,
                    cell: ({ value }) =>
                      value === undefined ? (
                        <span className={layout.soft}>too long for the list</span>
                      ) : (
                        <code className={styles.value}>{JSON.stringify(value)}</code>
                      ),
                  },
                  { name: 'Size', align: 'end', cell: (entry) => size(entry.size) },
                  { name: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                ]}
              />
              <Pages {...page} onPage={(next) => view.set({ page: next === 0 ? '' : String(next) })} />
            </>
          )
        }
      </Answer>
    </div>
  )
}
