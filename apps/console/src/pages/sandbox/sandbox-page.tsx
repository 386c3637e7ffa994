import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { hasEnded, useKillSandbox, useSandbox, type Sandbox } from '../../api/queries/sandboxes.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import layout from '../../parts/layout.module.css'
import { PageAnswer } from '../../parts/page-answer.tsx'
import { Empty, Loading } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { tabOf, Tabs } from '../../parts/tabs.tsx'
import { useMay } from '../../session/session-context.ts'
import { useView } from '../../shell/view.ts'
import { FilesTab } from './files-tab.tsx'
import { OverviewTab } from './overview-tab.tsx'
import { TerminalTab } from './terminal-tab.tsx'

/** One sandbox: its deadline and addresses, a terminal, its files. */
export function SandboxPage() {
  const { team, sandboxId } = useParams({ from: '/t/$team/sandboxes/$sandboxId' })
  const sandbox = useSandbox(team, sandboxId)
  return (
    <PageAnswer of={sandbox} what="sandbox">
      {(data) => <Present team={team} sandbox={data} />}
    </PageAnswer>
  )
}

const tabs = [
  ['overview', 'Overview'],
  ['terminal', 'Terminal'],
  ['files', 'Files'],
] as const

function Present({ team, sandbox }: { team: string; sandbox: Sandbox }) {
  const { id, name, status } = sandbox
  const [isAsked, setAsked] = useState(false)
  const kill = useKillSandbox(team)
  const mayBuild = useMay('build')
  const tab = tabOf(tabs, useView().get('tab'))
  const isOver = hasEnded(sandbox)
  return (
    <Page
      title={name || id}
      call={{ path: `/sandboxes/${id}` }}
      note={<Status of={status} />}
      actions={
        !isOver && (
          <Button
            look="danger"
            disabled={!mayBuild}
            title={mayBuild ? undefined : 'Needs the scope build'}
            onClick={() => setAsked(true)}
          >
            Kill
          </Button>
        )
      }
      tabs={
        <Tabs label="Sandbox">
          {tabs.map(([key, words]) => (
            <Link
              key={key}
              to="/t/$team/sandboxes/$sandboxId"
              params={{ team, sandboxId: id }}
              search={{ tab: key === 'overview' ? undefined : key }}
              activeOptions={{ exact: true, explicitUndefined: true }}
              aria-current={tab === key ? 'page' : undefined}
            >
              {words}
            </Link>
          ))}
        </Tabs>
      }
    >
      {tab === 'overview' && <OverviewTab team={team} sandbox={sandbox} />}
      {tab !== 'overview' && isOver && (
        <Empty title="The sandbox has ended">Its files and programs are gone with it.</Empty>
      )}
      {tab !== 'overview' && !mayBuild && <Empty title="This needs the scope build" />}
      {tab !== 'overview' && status === 'PENDING' && <Loading what="sandbox, which starts" />}
      {status === 'RUNNING' && mayBuild && tab === 'terminal' && <TerminalTab team={team} sandbox={sandbox} />}
      {status === 'RUNNING' && mayBuild && tab === 'files' && <FilesTab team={team} sandboxId={id} />}
      <Confirm
        title={`Kill ${name || 'the sandbox'}?`}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        verb="Kill"
        isBusy={kill.isPending}
        error={kill.error}
        onConfirm={() => kill.mutate(id, { onSuccess: () => setAsked(false) })}
      >
        <p className={layout.soft}>All that runs in it ends, and its files are gone for good.</p>
      </Confirm>
    </Page>
  )
}
