import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useVariables, type Variable, useDeleteVariable, useVariableUsers } from '../../api/queries/variables.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../session/session-context.ts'
import { useView } from '../../shell/view.ts'
import { VariableDialog } from './variable-dialog.tsx'
import styles from './variables.module.css'
import { Deletion } from '../../parts/deletion.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SourceUsers } from '../../parts/source-users.tsx'

type Open = { what: 'edit'; id?: string } | { what: 'delete' | 'users'; variable: Variable }

/** The variables that all processes of the team read; secrets are written and never shown. */
export function VariablesPage() {
  const { team } = useParams({ from: '/t/$team/variables' })
  const variables = useVariables(team)
  const view = useView()
  const mayBuild = useMay('build')
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const words = view.get('q').toLowerCase()

  const create = (
    <Button
      look="primary"
      disabled={!mayBuild}
      title={mayBuild ? undefined : 'Needs the scope build'}
      onClick={() => setOpen({ what: 'edit' })}
    >
      <icons.plus /> New variable
    </Button>
  )
  return (
    <Page title="Variables" actions={create} call={{ path: '/variables' }}>
      <Answer of={variables} what="variables">
        {({ data, hasNextPage }) =>
          data.length === 0 ? (
            <Empty title="No variables yet">
              <p>
                Processes read them by <code>svc.env</code>. Secrets are kept encrypted, and never shown again.
              </p>
              <CurlHint
                team={team}
                method="POST"
                path="/variables"
                body={{ key: 'SHOP_URL', value: 'https://shop.example', isSensitive: false }}
              />
            </Empty>
          ) : (
            <>
              <FilterField name="q" label="Filter variables" placeholder="Filter by name" />
              {hasNextPage && <p className={layout.soft}>The newest 1,000 are shown.</p>}
              <Table
                caption="Variables"
                rows={data.filter(({ key }) => key.toLowerCase().includes(words))}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: 'Name',
                    cell: ({ id, key }) => (
                      <button type="button" className={layout.linkish} onClick={() => setOpen({ what: 'edit', id })}>
                        <code>{key}</code>
                      </button>
                    ),
                  },
                  { name: 'Value', isMain: true, cell: (variable) => <Value of={variable} /> },
                  {
                    name: 'Changed',
                    cell: ({ updatedAt, createdAt, updatedBy, createdBy }) => (
                      <span>
                        <Time at={updatedAt ?? createdAt} />{' '}
                        <span className={layout.soft}>{updatedBy ?? createdBy}</span>
                      </span>
                    ),
                  },
                  {
                    name: 'Actions',
                    align: 'end',
                    cell: (variable) => (
                      <span className={styles.actions}>
                        <Button
                          look="quiet"
                          aria-label={`Users of ${variable.key}`}
                          title="Who uses it"
                          onClick={() => setOpen({ what: 'users', variable })}
                        >
                          <icons.link />
                        </Button>
                        <Button
                          look="quiet"
                          aria-label={`Delete ${variable.key}`}
                          title={mayBuild ? 'Delete' : 'Needs the scope build'}
                          disabled={!mayBuild}
                          onClick={() => setOpen({ what: 'delete', variable })}
                        >
                          <icons.trash />
                        </Button>
                      </span>
                    ),
                  },
                ]}
              />
            </>
          )
        }
      </Answer>
      {open?.what === 'edit' && <VariableDialog key={open.id} team={team} id={open.id} onClose={close} />}
      {open?.what === 'delete' && <DeleteVariable team={team} variable={open.variable} onClose={close} />}
      {open?.what === 'users' && <VariableUsers team={team} variable={open.variable} onClose={close} />}
    </Page>
  )
}

function Value({ of: { isSensitive, value } }: { of: Variable }) {
  if (isSensitive) return <span className={layout.soft}>secret</span>
  if (value === undefined) return <span className={layout.soft}>too long for the list</span>
  return <code className={styles.value}>{value}</code>
}

/** Asks before a variable goes for good, and says how many sources name it. */
function DeleteVariable({ team, variable, onClose }: { team: string; variable: Variable; onClose: () => void }) {
  const users = useVariableUsers(team, variable.id)
  const removal = useDeleteVariable(team)
  const total = users.data?.total ?? 0
  return (
    <Deletion
      title={`Delete the variable ${variable.key}?`}
      name={variable.key}
      id={variable.id}
      removal={removal}
      onClose={onClose}
    >
      Its value is gone for good.
      {total > 0 && ` ${total} ${total === 1 ? 'source names' : 'sources name'} it; runs of these will not find it.`}
    </Deletion>
  )
}

/** The sources that have the name of a variable as a word. */
function VariableUsers({ team, variable, onClose }: { team: string; variable: Variable; onClose: () => void }) {
  const users = useVariableUsers(team, variable.id)
  return (
    <Dialog title={`Who uses ${variable.key}`} isOpen isWide onClose={onClose}>
      <Answer of={users} what="users">
        {({ data, incomplete }) => (
          <>
            <p className={layout.soft}>
              Sources that have the name as a word, in comments and texts, too.
              {incomplete && ' There are more sources than were read: the newest 10,000 are.'}
            </p>
            <SourceUsers team={team} users={data} none="No source names it" />
          </>
        )}
      </Answer>
    </Dialog>
  )
}
