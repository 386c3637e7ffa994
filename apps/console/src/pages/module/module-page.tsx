import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useDeleteModule, useModule, type Module, useModuleUsers } from '../../api/queries/modules.ts'
import type { Tagged } from '../../api/tagged.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import layout from '../../parts/layout.module.css'
import { LostText } from '../../parts/lost-text.tsx'
import { PageAnswer } from '../../parts/page-answer.tsx'
import { Page } from '../../parts/page.tsx'
import { tabOf, Tabs } from '../../parts/tabs.tsx'
import { languageNames } from '../../rules/languages.ts'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { useView } from '../../shell/view.ts'
import { SourceTab } from './source-tab.tsx'
import { VersionsTab } from './versions-tab.tsx'
import { Answer, isShown } from '../../parts/page-states.tsx'
import { SourceUsers } from '../../parts/source-users.tsx'

/** One module: its source, versions with aliases, and who imports it. */
export function ModulePage() {
  const { team, moduleId } = useParams({ from: '/t/$team/modules/$moduleId' })
  const module = useModule(team, moduleId)
  return (
    <>
      <PageAnswer of={module} what="module">
        {(data) => <Present team={team} module={data} />}
      </PageAnswer>
      {module.error && !isShown(module) && <LostText team={team} id={moduleId} what="source" />}
    </>
  )
}

const callOf = (id: string, tab: string) => ({ path: `/modules/${id}${tab === 'source' ? '' : `/${tab}`}` })

const tabs = [
  ['source', 'Source'],
  ['versions', 'Versions'],
  ['users', 'Users'],
] as const

function Present({ team, module }: { team: string; module: Tagged<Module> }) {
  const { id, name, programmingLanguage } = module.record
  const tab = tabOf(tabs, useView().get('tab'))
  const mayBuild = useMay('build')
  const [isAsked, setAsked] = useState(false)
  const removal = useDeleteModule(team)
  const navigate = useNavigate()
  const say = useToast()
  return (
    <Page
      title={name}
      call={callOf(id, tab)}
      note={<span className={layout.soft}>{languageNames[programmingLanguage]}</span>}
      actions={
        <Button
          look="danger"
          disabled={!mayBuild}
          title={mayBuild ? undefined : 'Needs the scope build'}
          onClick={() => setAsked(true)}
        >
          Delete
        </Button>
      }
      tabs={
        <Tabs label="Module">
          {tabs.map(([key, words]) => (
            <Link
              key={key}
              to="."
              search={key === 'source' ? {} : { tab: key }}
              activeOptions={{ exact: true }}
              aria-current={tab === key ? 'page' : undefined}
            >
              {words}
            </Link>
          ))}
        </Tabs>
      }
    >
      {tab === 'source' && <SourceTab key={id} team={team} module={module} />}
      {tab === 'versions' && <VersionsTab team={team} module={module.record} />}
      {tab === 'users' && <UsersTab team={team} id={id} />}
      <Confirm
        title={`Delete the module ${name}?`}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        verb="Delete"
        word={name}
        isBusy={removal.isPending}
        error={removal.error}
        onConfirm={() =>
          removal.mutate(id, {
            onSuccess: () => {
              say(`${name} is deleted`)
              void navigate({ to: '/t/$team/modules', params: { team } })
            },
          })
        }
      >
        Its versions and aliases go with it, for good. One that something imports is not deleted.
      </Confirm>
    </Page>
  )
}

/** Who imports a module. */
function UsersTab({ team, id }: { team: string; id: string }) {
  const users = useModuleUsers(team, id)
  return (
    <Answer of={users} what="users">
      {({ data, inOtherTeams }) => (
        <div className={layout.tight}>
          {inOtherTeams > 0 && (
            <p>
              {inOtherTeams} {inOtherTeams === 1 ? 'source' : 'sources'} of other teams that inherit it import it, too.
            </p>
          )}
          <SourceUsers team={team} users={data} none="Nothing imports it" />
        </div>
      )}
    </Answer>
  )
}
