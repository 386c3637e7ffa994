import { useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useProcessSummaries } from '../../api/queries/processes.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { Pages } from '../../parts/pages.tsx'
import { useKeys } from '../../parts/use-keys.ts'
import { useMay } from '../../session/session-context.ts'
import { useView } from '../../shell/view.ts'
import { CreateProcess } from './create-process.tsx'
import { ProcessesTable } from './processes-table.tsx'

const PAGE_SIZE = 50

/** The team's processes and how they fare, by a keyword and tags that the address has. */
export function ProcessesPage() {
  const { team } = useParams({ from: '/t/$team/processes' })
  const view = useView()
  const keywords = view.get('q')
  const tags = view.get('tags').split(',').filter(Boolean)
  const filters = {
    ...(keywords !== '' && { keywords }),
    ...(tags.length > 0 && { tags }),
    page: Number(view.get('page')) || 0,
    limit: PAGE_SIZE,
  }
  const summaries = useProcessSummaries(team, filters)
  const mayBuild = useMay('build')
  const [isOpen, setOpen] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const isFiltered = keywords !== '' || tags.length > 0
  useKeys({ '/': () => field.current?.focus(), n: () => mayBuild && setOpen(true) })

  const setTags = (next: readonly string[]) => view.set({ tags: next.join(','), page: '' })
  const create = (
    <Button
      look="primary"
      disabled={!mayBuild}
      title={mayBuild ? 'New process (n)' : 'Needs the scope build'}
      onClick={() => setOpen(true)}
    >
      <icons.plus /> New process
    </Button>
  )
  return (
    <Page title="Processes" actions={create} call={{ path: '/processes/summaries', query: filters }}>
      <search className={layout.row}>
        <FilterField ref={field} name="q" label="Filter processes" placeholder="Part of a name or description (/)" />
        {tags.map((tag) => (
          <Button
            key={tag}
            aria-label={`Without the tag ${tag}`}
            onClick={() => setTags(tags.filter((t) => t !== tag))}
          >
            {tag} <icons.cross />
          </Button>
        ))}
      </search>
      <Answer of={summaries} what="processes">
        {(page) =>
          page.total > 0 ? (
            <>
              <ProcessesTable
                team={team}
                rows={page.data}
                filters={filters}
                onTag={(tag) => setTags([...new Set([...tags, tag])])}
              />
              <Pages {...page} onPage={(next) => view.set({ page: next === 0 ? '' : String(next) })} />
            </>
          ) : isFiltered ? (
            <Empty title="No process fits">
              <Button onClick={() => view.set({ q: '', tags: '', page: '' })}>
                <icons.cross /> Clear the filters
              </Button>
            </Empty>
          ) : (
            <Empty title="No processes yet">
              <p>A process is code that runs by a call, its webhook, a schedule or another process.</p>
              {create}
              <CurlHint
                team={team}
                method="POST"
                path="/processes"
                body={{ name: 'greeting', sourceCode: 'return `Hello ${svc.context.parameters.name}`' }}
              />
            </Empty>
          )
        }
      </Answer>
      {isOpen && <CreateProcess team={team} onClose={() => setOpen(false)} />}
    </Page>
  )
}
