import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useModules } from '../../api/queries/modules.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { languageNames } from '../../rules/languages.ts'
import { useMay } from '../../session/session-context.ts'
import { useView } from '../../shell/view.ts'
import { CreateModule } from './create-module.tsx'

/** Code that several processes import. */
export function ModulesPage() {
  const { team } = useParams({ from: '/t/$team/modules' })
  const modules = useModules(team)
  const view = useView()
  const mayBuild = useMay('build')
  const [isOpen, setOpen] = useState(false)
  const words = view.get('q').toLowerCase()
  return (
    <Page
      title="Modules"
      call={{ path: '/modules' }}
      actions={
        <Button
          look="primary"
          disabled={!mayBuild}
          title={mayBuild ? undefined : 'Needs the scope build'}
          onClick={() => setOpen(true)}
        >
          <icons.plus /> New module
        </Button>
      }
    >
      <Answer of={modules} what="modules">
        {({ data, hasNextPage }) =>
          data.length === 0 ? (
            <Empty title="No modules yet">
              <p>A module is code that several processes import by its name.</p>
              <CurlHint
                team={team}
                method="POST"
                path="/modules"
                body={{ name: 'shouting', sourceCode: 'export const shout = (text) => text.toUpperCase()' }}
              />
            </Empty>
          ) : (
            <>
              <FilterField name="q" label="Filter modules" placeholder="Filter by name" />
              {hasNextPage && <p className={layout.soft}>The newest 1,000 are shown.</p>}
              <Table
                caption="Modules"
                rows={data.filter(({ name }) => name.toLowerCase().includes(words))}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: 'Name',
                    isMain: true,
                    cell: ({ id, name }) => (
                      <Link to="/t/$team/modules/$moduleId" params={{ team, moduleId: id }}>
                        {name}
                      </Link>
                    ),
                  },
                  { name: 'Language', cell: ({ programmingLanguage }) => languageNames[programmingLanguage] },
                  { name: 'Revision', align: 'end', cell: ({ revision }) => revision },
                  {
                    name: 'Comes from',
                    cell: ({ origin }) =>
                      origin ? <code>{origin.repository}</code> : <span className={layout.soft}>here</span>,
                  },
                  {
                    name: 'Changed',
                    cell: ({ updatedAt, createdAt, updatedBy, createdBy }) => (
                      <span>
                        <Time at={updatedAt ?? createdAt} />{' '}
                        <span className={layout.soft}>{updatedBy ?? createdBy}</span>
                      </span>
                    ),
                  },
                ]}
              />
            </>
          )
        }
      </Answer>
      {isOpen && <CreateModule team={team} onClose={() => setOpen(false)} />}
    </Page>
  )
}
