import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useSandboxes } from '../../api/queries/sandboxes.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { Pages } from '../../parts/pages.tsx'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../session/session-context.ts'
import { useView } from '../../shell/view.ts'
import { CreateSandbox } from './create-sandbox.tsx'

/** The team's sandboxes, newest first. */
export function SandboxesPage() {
  const { team } = useParams({ from: '/t/$team/sandboxes' })
  const view = useView()
  const sandboxes = useSandboxes(team, Number(view.get('page')) || 0)
  const mayBuild = useMay('build')
  const [isOpen, setOpen] = useState(false)
  const create = (
    <Button
      look="primary"
      disabled={!mayBuild}
      title={mayBuild ? undefined : 'Needs the scope build'}
      onClick={() => setOpen(true)}
    >
      <icons.plus /> New sandbox
    </Button>
  )
  return (
    <Page title="Sandboxes" actions={create} call={{ path: '/sandboxes', query: { page: view.get('page') } }}>
      <Answer of={sandboxes} what="sandboxes">
        {(page) =>
          page.total === 0 ? (
            <Empty title="No sandboxes">
              <p>A sandbox is an isolated machine with a home, a terminal and public ports, until its deadline.</p>
              <CurlHint team={team} method="POST" path="/sandboxes" body={{ name: 'try-out', timeout: 300_000 }} />
            </Empty>
          ) : (
            <>
              <Table
                caption="Sandboxes"
                rows={page.data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: 'Name',
                    isMain: true,
                    cell: ({ id, name }) => (
                      <Link to="/t/$team/sandboxes/$sandboxId" params={{ team, sandboxId: id }}>
                        {name || id}
                      </Link>
                    ),
                  },
                  { name: 'Status', cell: ({ status }) => <Status of={status} /> },
                  { name: 'Image', cell: ({ imageId }) => <code>{imageId}</code> },
                  {
                    name: 'Ends',
                    cell: ({ status, timeoutAt }) =>
                      status === 'RUNNING' || status === 'PENDING' ? <Time at={timeoutAt} /> : '–',
                  },
                  {
                    name: 'Created',
                    cell: ({ createdAt, createdBy }) => (
                      <span>
                        <Time at={createdAt} /> <span className={layout.soft}>{createdBy}</span>
                      </span>
                    ),
                  },
                ]}
              />
              <Pages {...page} onPage={(next) => view.set({ page: next === 0 ? '' : String(next) })} />
            </>
          )
        }
      </Answer>
      {isOpen && <CreateSandbox team={team} onClose={() => setOpen(false)} />}
    </Page>
  )
}
