import { useModuleSource, type Module, type ModuleVersion } from '../../api/queries/modules.ts'
import { Diff } from '../../parts/diff.tsx'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { Card } from '../../parts/page.tsx'
import { codeLanguageOf } from '../../rules/languages.ts'
import { useView } from '../../shell/view.ts'

interface Props {
  team: string
  module: Module
  versions: readonly ModuleVersion[]
}

/** Two of the versions and the current source, side by side. */
export function VersionsDiff({ team, module, versions }: Props) {
  const view = useView()
  const a = view.get('a') || (versions[0]?.id ?? '')
  const b = view.get('b') || 'current'
  const before = useSource(team, module, a)
  const after = useSource(team, module, b)
  const nameOf = (id: string) => versions.find((one) => one.id === id)?.tag ?? 'current source'
  return (
    <Card title="Differences">
      <div className={layout.row}>
        {(['a', 'b'] as const).map((side) => (
          <select
            key={side}
            className={layout.filter}
            aria-label={side === 'a' ? 'Before' : 'After'}
            value={side === 'a' ? a : b}
            onChange={(event) => view.set({ [side]: event.target.value })}
          >
            <option value="current">current source</option>
            {versions.map(({ id, tag }) => (
              <option key={id} value={id}>
                {tag}
              </option>
            ))}
          </select>
        ))}
      </div>
      <Answer of={before} what="version">
        {(left) => (
          <Answer of={after} what="version">
            {(right) =>
              left === right ? (
                <p className={layout.soft}>Both are the same.</p>
              ) : (
                <Diff
                  before={left}
                  after={right}
                  names={[nameOf(a), nameOf(b)]}
                  language={codeLanguageOf(module.programmingLanguage)}
                />
              )
            }
          </Answer>
        )}
      </Answer>
    </Card>
  )
}

function useSource(team: string, module: Module, id: string) {
  const version = useModuleSource(team, module.id, id)
  return { ...version, data: id === 'current' ? module.sourceCode : version.data?.sourceCode }
}
