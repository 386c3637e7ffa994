import { Link, useSearch } from '@tanstack/react-router'
import { useExecutionSource, type Execution } from '../../api/queries/executions.ts'
import { CodeEditor } from '../../parts/code-editor.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { faultPlace, nameOf } from '../../rules/code-frame.ts'
import { codeLanguageOf } from '../../rules/languages.ts'
import styles from './execution.module.css'

const ROUTE = '/t/$team/executions/$executionId'

/** The source that ran, with the modules that it imported; where it failed, the line is marked unless the address names another. */
export function SourceTab({ team, execution }: { team: string; execution: Execution }) {
  const { id, processSlug: slug, error } = execution
  const source = useExecutionSource(team, id)
  const { file, line } = useSearch({ from: ROUTE })
  return (
    <Answer of={source} what="source">
      {(data) => {
        if (data === null) return <SourceNotKept team={team} execution={execution} />
        const { modules, sourceCode, digest, versionId, programmingLanguage } = data
        const fault = faultPlace(error?.frames ?? [], slug, { programmingLanguage, modules })
        const named = typeof file === 'string' ? nameOf(file) : fault === undefined ? slug : nameOf(fault.file)
        const module = modules.find(({ name }) => name === named)
        const failed = fault !== undefined && nameOf(fault.file) === (module?.name ?? slug) ? fault.line : undefined
        return (
          <>
            {modules.length > 0 && (
              <Tabs label="Sources">
                {[slug, ...modules.map(({ name }) => name)].map((name) => (
                  <Link
                    key={name}
                    to={ROUTE}
                    params={{ team, executionId: id }}
                    search={{ tab: 'source', file: name }}
                    aria-current={name === (module?.name ?? slug) ? 'page' : undefined}
                    activeOptions={{ exact: true, includeSearch: true }}
                  >
                    {name}
                  </Link>
                ))}
              </Tabs>
            )}
            <p className={styles.soft}>
              {versionId === undefined ? 'The source as it was when this ran' : `Version ${versionId}`} · SHA-256{' '}
              <code>{digest.slice(0, 12)}</code>
            </p>
            <CodeEditor
              key={module?.name ?? slug}
              label={`Source of ${module?.name ?? slug}`}
              language={codeLanguageOf(programmingLanguage)}
              value={module?.sourceCode ?? sourceCode}
              line={Number(line) || failed}
              height={{ min: 120, max: 640 }}
            />
          </>
        )
      }}
    </Answer>
  )
}

function SourceNotKept({ team, execution: { processSlug: slug, versionId } }: { team: string; execution: Execution }) {
  return (
    <Empty title="The source that ran is not kept">
      <p>
        {versionId === undefined
          ? 'The process was changed often since, or a module is gone. Publish a version and run that to keep the source.'
          : 'Its version is gone.'}
      </p>
      <Link to="/t/$team/processes/$slug/versions" params={{ team, slug }}>
        Versions of the process
      </Link>
    </Empty>
  )
}
