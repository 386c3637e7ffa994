import { useState } from 'react'
import type { Process } from '../../api/queries/processes.ts'
import { useDeleteAlias, type Alias, type useAliases, type Version } from '../../api/queries/versions.ts'
import { Button } from '../../parts/button.tsx'
import { Deletion } from '../../parts/deletion.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { Card } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../session/session-context.ts'
import { AliasDialog } from './alias-dialog.tsx'
import styles from './versions.module.css'

interface Props {
  team: string
  slug: string
  process: Process
  aliases: ReturnType<typeof useAliases>
  versions: readonly Version[]
}

type Open = { what: 'save'; alias?: Alias } | { what: 'delete'; alias: Alias }

/** The names that lead to versions and can be moved. */
export function Aliases({ team, slug, process, aliases, versions }: Props) {
  const [open, setOpen] = useState<Open>()
  const mayBuild = useMay('build')
  const why = mayBuild ? undefined : 'Needs the scope build'
  const close = () => setOpen(undefined)
  return (
    <Card
      title="Aliases"
      actions={
        <Button disabled={!mayBuild} title={why} onClick={() => setOpen({ what: 'save' })}>
          <icons.plus /> New alias
        </Button>
      }
    >
      <Answer of={aliases} what="aliases">
        {(rows) =>
          rows.length === 0 ? (
            <p className={layout.soft}>
              None yet. An alias such as <code>live</code> leads to a version; callers keep the name when you move it.
            </p>
          ) : (
            <Table
              caption="Aliases"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Alias', cell: ({ name }) => <strong>{name}</strong> },
                {
                  name: 'Version',
                  isMain: true,
                  cell: ({ versionId }) => versions.find(({ id }) => id === versionId)?.tag ?? <code>{versionId}</code>,
                },
                {
                  name: 'Moved',
                  cell: ({ createdAt, createdBy, updatedAt = createdAt, updatedBy = createdBy }) => (
                    <span>
                      <Time at={updatedAt} /> <span className={layout.soft}>by {updatedBy}</span>
                    </span>
                  ),
                },
                {
                  name: 'Actions',
                  align: 'end',
                  cell: (alias) => (
                    <span className={styles.actions}>
                      <Button
                        look="quiet"
                        disabled={!mayBuild}
                        title={why}
                        onClick={() => setOpen({ what: 'save', alias })}
                      >
                        Move…
                      </Button>
                      <Button
                        look="quiet"
                        aria-label={`Delete ${alias.name}`}
                        disabled={!mayBuild}
                        title={why ?? `Delete ${alias.name}`}
                        onClick={() => setOpen({ what: 'delete', alias })}
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
      </Answer>
      {open?.what === 'save' && (
        <AliasDialog {...{ team, slug, process, versions }} alias={open.alias} onClose={close} />
      )}
      {open?.what === 'delete' && <DeleteAlias {...{ team, slug }} alias={open.alias} onClose={close} />}
    </Card>
  )
}

interface DeleteProps {
  team: string
  slug: string
  alias: Alias
  onClose: () => void
}

function DeleteAlias({ team, slug, alias: { id, name }, onClose }: DeleteProps) {
  const removal = useDeleteAlias(team, slug)
  return (
    <Deletion title={`Delete the alias ${name}?`} name={name} id={id} removal={removal} onClose={onClose}>
      Calls that name it are refused from then on. The version stays.
    </Deletion>
  )
}
