import type { Alias, Version } from '../../api/queries/versions.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { Table } from '../../parts/table.tsx'
import { Tags } from '../../parts/tags.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './versions.module.css'

interface Props {
  rows: readonly Version[]
  aliases: readonly Alias[]
  mayBuild: boolean
  onCompare: (version: Version) => void
  onDelete: (version: Version) => void
}

export function VersionsTable({ rows, aliases, mayBuild, onCompare, onDelete }: Props) {
  return (
    <Table
      caption="Versions, newest first"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          name: 'Version',
          cell: ({ id, tag }) => (
            <span className={layout.row}>
              <strong>{tag}</strong>
              <Tags label="Aliases" of={aliases.filter(({ versionId }) => versionId === id).map(({ name }) => name)} />
            </span>
          ),
        },
        { name: 'Comment', isMain: true, cell: ({ comment }) => comment || <span className={layout.soft}>–</span> },
        {
          name: 'Published',
          cell: ({ createdAt, createdBy }) => (
            <span>
              <Time at={createdAt} /> <span className={layout.soft}>by {createdBy}</span>
            </span>
          ),
        },
        {
          name: 'Actions',
          align: 'end',
          cell: (version) => (
            <span className={styles.actions}>
              <Button look="quiet" onClick={() => onCompare(version)}>
                Compare
              </Button>
              <Button
                look="quiet"
                aria-label={`Delete ${version.tag}`}
                disabled={!mayBuild}
                title={mayBuild ? `Delete ${version.tag}` : 'Needs the scope build'}
                onClick={() => onDelete(version)}
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
