import { useState } from 'react'
import {
  useDeleteModuleVersion,
  useModuleAliases,
  useModuleVersions,
  type Module,
  type ModuleVersion,
} from '../../api/queries/modules.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Card } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../session/session-context.ts'
import { AliasesCard } from './aliases-card.tsx'
import { PublishModule } from './publish-module.tsx'
import { VersionsDiff } from './versions-diff.tsx'

/** What is published of a module: versions that stay as they are, and aliases that lead to them. */
export function VersionsTab({ team, module }: { team: string; module: Module }) {
  const versions = useModuleVersions(team, module.id)
  const aliases = useModuleAliases(team, module.id)
  const removal = useDeleteModuleVersion(team, module.id)
  const mayBuild = useMay('build')
  const [doomed, setDoomed] = useState<ModuleVersion>()
  const namesOf = (versionId: string) =>
    (aliases.data?.data ?? []).filter((one) => one.versionId === versionId).map(({ name }) => name)
  return (
    <div className={layout.stack}>
      {mayBuild && <PublishModule team={team} moduleId={module.id} />}
      <Answer of={versions} what="versions">
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No versions yet">Publish one: processes that import it by its tag keep it as it is.</Empty>
          ) : (
            <>
              <Card title="Versions">
                <Table
                  caption="Versions"
                  rows={data}
                  keyOf={({ id }) => id}
                  columns={[
                    { name: 'Tag', cell: ({ tag }) => <strong>{tag}</strong> },
                    { name: 'Aliases', cell: ({ id }) => namesOf(id).join(', ') || '–' },
                    { name: 'Comment', isMain: true, cell: ({ comment }) => comment ?? '–' },
                    {
                      name: 'Published',
                      cell: ({ createdAt, createdBy }) => (
                        <span>
                          <Time at={createdAt} /> <span className={layout.soft}>{createdBy}</span>
                        </span>
                      ),
                    },
                    {
                      name: 'Actions',
                      align: 'end',
                      cell: (version) => (
                        <Button
                          look="quiet"
                          aria-label={`Delete ${version.tag}`}
                          title={mayBuild ? 'Delete' : 'Needs the scope build'}
                          disabled={!mayBuild}
                          onClick={() => {
                            removal.reset()
                            setDoomed(version)
                          }}
                        >
                          <icons.trash />
                        </Button>
                      ),
                    },
                  ]}
                />
              </Card>
              <AliasesCard team={team} moduleId={module.id} versions={data} aliases={aliases.data?.data ?? []} />
              <VersionsDiff team={team} module={module} versions={data} />
            </>
          )
        }
      </Answer>
      <Confirm
        title={`Delete the version ${doomed?.tag ?? ''}?`}
        isOpen={doomed !== undefined}
        onClose={() => setDoomed(undefined)}
        verb="Delete"
        isBusy={removal.isPending}
        error={removal.error}
        onConfirm={() => doomed && removal.mutate(doomed.id, { onSuccess: () => setDoomed(undefined) })}
      >
        A version that something uses is not deleted.
      </Confirm>
    </div>
  )
}
