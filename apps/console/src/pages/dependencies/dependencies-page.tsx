import { Link, useParams } from '@tanstack/react-router'
import { useDependencies, type Language } from '../../api/queries/dependencies.ts'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useView } from '../../shell/view.ts'
import { InstallHistory } from './install-history.tsx'
import { PackageList } from './package-list.tsx'

const languages = [
  ['JAVASCRIPT', 'JavaScript'],
  ['PYTHON', 'Python'],
] as const

/** The packages that the team's processes import: what is installed, what is staged, and how it came about. */
export function DependenciesPage() {
  const { team } = useParams({ from: '/t/$team/dependencies' })
  const language: Language = useView().get('language') === 'PYTHON' ? 'PYTHON' : 'JAVASCRIPT'
  const dependencies = useDependencies(team, language)
  return (
    <Page
      title="Dependencies"
      call={{ path: `/dependencies/${language}` }}
      tabs={
        <Tabs label="Language">
          {languages.map(([key, words]) => (
            <Link
              key={key}
              to="."
              search={key === 'JAVASCRIPT' ? {} : { language: key }}
              activeOptions={{ exact: true }}
              aria-current={key === language ? 'page' : undefined}
            >
              {words}
            </Link>
          ))}
        </Tabs>
      }
    >
      <Answer of={dependencies} what="packages">
        {(data) => (
          <div className={layout.stack}>
            <PackageList key={language} team={team} language={language} manifest={data} />
            <InstallHistory key={`${language} installs`} team={team} language={language} />
          </div>
        )}
      </Answer>
    </Page>
  )
}
