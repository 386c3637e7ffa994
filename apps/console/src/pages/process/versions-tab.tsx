import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useProcess, type Process } from '../../api/queries/processes.ts'
import { useAliases, useAllVersions, useDeleteVersion, useVersions, type Version } from '../../api/queries/versions.ts'
import { Button } from '../../parts/button.tsx'
import { Deletion } from '../../parts/deletion.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Pages } from '../../parts/pages.tsx'
import { useMay } from '../../session/session-context.ts'
import { useView } from '../../shell/view.ts'
import { Aliases } from './aliases.tsx'
import { CompareVersions } from './compare-versions.tsx'
import { PublishDialog } from './publish-dialog.tsx'
import { VersionsTable } from './versions-table.tsx'

/** The published states of a process, the aliases that lead to them, and what differs between any two. */
export function VersionsTab() {
  const { team, slug } = useParams({ from: '/t/$team/processes/$slug/versions' })
  const process = useProcess(team, slug)
  return (
    <Answer of={process} what="versions">
      {({ record }) => <Present team={team} slug={slug} process={record} />}
    </Answer>
  )
}

function Present({ team, slug, process }: { team: string; slug: string; process: Process }) {
  const view = useView()
  const versions = useVersions(team, slug, Number(view.get('page')) || 0)
  const aliases = useAliases(team, slug)
  const choices = useAllVersions(team, process.id)
  const mayBuild = useMay('build')
  const [isPublishing, setPublishing] = useState(false)
  const [asked, setAsked] = useState<Version>()
  const newest = choices.data?.[0]
  const publish = (
    <Button
      look="primary"
      disabled={!mayBuild}
      title={mayBuild ? undefined : 'Needs the scope build'}
      onClick={() => setPublishing(true)}
    >
      <icons.upload /> Publish…
    </Button>
  )
  return (
    <>
      <Answer of={versions} what="versions">
        {(page) =>
          page.total === 0 ? (
            <Empty title="No versions yet">
              <p>
                A version is a state of the process that does not change any more. Callers, schedules and webhooks can
                name it, or an alias that leads to it.
              </p>
              {publish}
              <CurlHint team={team} method="POST" path={`/processes/${slug}/versions`} body={{ tag: 'v1' }} />
            </Empty>
          ) : (
            <>
              <div className={`${layout.row} ${layout.spread}`}>
                <span className={layout.soft}>
                  {newest && `The newest is ${newest.tag}. `}Runs that name no version use the current source.
                </span>
                {publish}
              </div>
              <Aliases {...{ team, slug, process }} aliases={aliases} versions={choices.data ?? page.data} />
              <VersionsTable
                rows={page.data}
                aliases={aliases.data ?? []}
                mayBuild={mayBuild}
                onCompare={({ tag }) => view.set({ a: tag, b: '' })}
                onDelete={setAsked}
              />
              <Pages {...page} onPage={(next) => view.set({ page: next === 0 ? '' : String(next) })} />
              <CompareVersions {...{ team, slug, process }} tags={(choices.data ?? page.data).map(({ tag }) => tag)} />
            </>
          )
        }
      </Answer>
      {isPublishing && <PublishDialog {...{ team, slug, process }} onClose={() => setPublishing(false)} />}
      {asked && <DeleteVersion {...{ team, slug }} version={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

interface DeleteProps {
  team: string
  slug: string
  version: Version
  onClose: () => void
}

function DeleteVersion({ team, slug, version: { id, tag }, onClose }: DeleteProps) {
  const removal = useDeleteVersion(team, slug)
  return (
    <Deletion title={`Delete the version ${tag}?`} name={tag} id={id} removal={removal} onClose={onClose}>
      Nothing can run it by its tag any more. While something uses it the service refuses this, and says what does.
    </Deletion>
  )
}
