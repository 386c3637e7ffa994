import { useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import { useDeleteModuleAlias, useSetModuleAlias, type ModuleVersion } from '../../api/queries/modules.ts'
import { Button } from '../../parts/button.tsx'
import { FormFault } from '../../parts/form-fault.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { Card } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../session/session-context.ts'

interface Props {
  team: string
  moduleId: string
  versions: readonly ModuleVersion[]
  aliases: readonly Schemas['VersionedModuleAlias'][]
}

/** Names that lead to a version and can be moved to another. */
export function AliasesCard({ team, moduleId, versions, aliases }: Props) {
  const change = useSetModuleAlias(team, moduleId)
  const removal = useDeleteModuleAlias(team, moduleId)
  const mayBuild = useMay('build')
  const [name, setName] = useState('')
  const options = versions.map(({ id, tag }) => (
    <option key={id} value={id}>
      {tag}
    </option>
  ))
  return (
    <Card title="Aliases">
      <FormFault error={change.error ?? removal.error} />
      {aliases.length > 0 && (
        <Table
          caption="Aliases"
          rows={aliases}
          keyOf={({ id }) => id}
          columns={[
            { name: 'Alias', isMain: true, cell: (one) => <strong>{one.name}</strong> },
            {
              name: 'Version',
              cell: (one) => (
                <select
                  aria-label={`Version of ${one.name}`}
                  className={layout.filter}
                  disabled={!mayBuild || change.isPending}
                  value={one.versionId}
                  onChange={(event) =>
                    change.mutate({ aliasId: one.id, name: one.name, versionId: event.target.value })
                  }
                >
                  {options}
                </select>
              ),
            },
            { name: 'Moved', cell: ({ updatedAt, createdAt }) => <Time at={updatedAt ?? createdAt} /> },
            {
              name: 'Actions',
              align: 'end',
              cell: (one) => (
                <Button
                  look="quiet"
                  aria-label={`Delete ${one.name}`}
                  title={mayBuild ? 'Delete' : 'Needs the scope build'}
                  disabled={!mayBuild || removal.isPending}
                  onClick={() => removal.mutate(one.id)}
                >
                  <icons.trash />
                </Button>
              ),
            },
          ]}
        />
      )}
      {mayBuild && (
        <form
          className={layout.row}
          onSubmit={(event) => {
            event.preventDefault()
            const versionId = new FormData(event.currentTarget).get('version')
            if (typeof versionId === 'string') change.mutate({ name, versionId }, { onSuccess: () => setName('') })
          }}
        >
          <input
            className={layout.filter}
            style={{ width: 180 }}
            aria-label="Name of a new alias"
            placeholder="New alias, such as live"
            required
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <select name="version" className={layout.filter} aria-label="Version of the new alias">
            {options}
          </select>
          <Button type="submit" isBusy={change.isPending} disabled={name === ''}>
            Add
          </Button>
        </form>
      )}
    </Card>
  )
}
