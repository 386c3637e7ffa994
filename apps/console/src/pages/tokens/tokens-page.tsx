import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useDeleteServiceAccount, useServiceAccounts, type ServiceAccount } from '../../api/queries/tokens.ts'
import { Button } from '../../parts/button.tsx'
import { Deletion } from '../../parts/deletion.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { Pages } from '../../parts/pages.tsx'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Page, Card } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useSession } from '../../session/session-context.ts'
import { useView } from '../../shell/view.ts'
import { CreateToken } from './create-token.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'

/** The service accounts of the team: programs that have an API token. */
export function TokensPage() {
  const { team } = useParams({ from: '/t/$team/tokens' })
  const mayAdmin = useMay('admin')
  return mayAdmin ? (
    <Tokens team={team} />
  ) : (
    <Page title="Tokens">
      <Empty title="Tokens need the scope admin">Ask somebody who has it.</Empty>
    </Page>
  )
}

function Tokens({ team }: { team: string }) {
  const view = useView()
  const accounts = useServiceAccounts(team, Number(view.get('page')) || 0)
  const [isOpen, setOpen] = useState(false)
  const [doomed, setDoomed] = useState<ServiceAccount>()
  return (
    <Page
      title="Tokens"
      call={{ path: '/auth/service-accounts', query: { page: view.get('page') } }}
      actions={
        <Button look="primary" onClick={() => setOpen(true)}>
          <icons.plus /> New token
        </Button>
      }
    >
      <Answer of={accounts} what="tokens">
        {(page) =>
          page.total === 0 ? (
            <Empty title="No service accounts yet">
              <p>A program signs in with the API token of its service account, with the scopes that it needs.</p>
              <CurlHint
                team={team}
                method="POST"
                path="/auth/service-accounts"
                body={{ name: 'dashboard', scopes: ['read'] }}
              />
            </Empty>
          ) : (
            <>
              <Table
                caption="Service accounts"
                rows={page.data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: 'Name',
                    isMain: true,
                    cell: ({ name, clientId }) => (
                      <span>
                        {name} <code className={layout.soft}>{clientId}</code>
                      </span>
                    ),
                  },
                  { name: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
                  {
                    name: 'Last used',
                    cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? 'never' : <Time at={lastUsedAt} />),
                  },
                  {
                    name: 'Ends',
                    cell: ({ expiresAt }) => (expiresAt === undefined ? 'not by itself' : <Time at={expiresAt} />),
                  },
                  { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
                  {
                    name: 'Actions',
                    align: 'end',
                    cell: (account) => (
                      <Button
                        look="quiet"
                        aria-label={`Delete ${account.name}`}
                        title="Delete"
                        onClick={() => setDoomed(account)}
                      >
                        <icons.trash />
                      </Button>
                    ),
                  },
                ]}
              />
              <Pages {...page} onPage={(next) => view.set({ page: next === 0 ? '' : String(next) })} />
            </>
          )
        }
      </Answer>
      <Connect team={team} />
      {isOpen && <CreateToken team={team} onClose={() => setOpen(false)} />}
      {doomed && <DeleteToken team={team} account={doomed} onClose={() => setDoomed(undefined)} />}
    </Page>
  )
}

function DeleteToken({ team, account, onClose }: { team: string; account: ServiceAccount; onClose: () => void }) {
  const removal = useDeleteServiceAccount(team)
  return (
    <Deletion title={`Delete ${account.name}?`} name={account.name} id={account.id} removal={removal} onClose={onClose}>
      Its API token signs in no more. Access tokens that it has live to their own end.
    </Deletion>
  )
}

/** What a token connects beside programs: an assistant, and the command line. */
function Connect({ team }: { team: string }) {
  const { apiUrl } = useSession()
  const tools = `${apiUrl}/api/${encodeURIComponent(team)}/mcp`
  const login = `pas login ${apiUrl} --team ${team}`
  return (
    <Card title="Connect">
      <Line name="An assistant (MCP)" text={tools} what="the address" note="by a token with mcp:tools" />
      <Line name="The command line" text={login} what="the command" note="asks for an API token" />
    </Card>
  )
}

function Line({ name, text, what, note }: { name: string; text: string; what: string; note: string }) {
  return (
    <p className={layout.row}>
      {name} <code className={layout.wraps}>{text}</code>
      <CopyButton text={text} what={what} />
      <span className={layout.soft}>{note}</span>
    </p>
  )
}
