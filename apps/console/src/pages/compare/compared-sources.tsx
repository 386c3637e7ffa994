import { useExecutionSource } from '../../api/queries/executions.ts'
import { Diff } from '../../parts/diff.tsx'
import { Answer } from '../../parts/page-states.tsx'
import { codeLanguageOf } from '../../rules/languages.ts'

/** What differs between the sources that two executions ran. */
export function ComparedSources({ team, before, after }: { team: string; before: string; after: string }) {
  const first = useExecutionSource(team, before)
  const second = useExecutionSource(team, after)
  return (
    <Answer of={first} what="source">
      {(one) => (
        <Answer of={second} what="source">
          {(other) =>
            one === null || other === null ? (
              <p>
                The source of {one !== null ? 'the second' : other === null ? 'both' : 'the first'} is not kept: it was
                changed since. Runs of versions keep theirs.
              </p>
            ) : one.sourceCode === other.sourceCode ? (
              <p>The same in both</p>
            ) : (
              <Diff
                before={one.sourceCode}
                after={other.sourceCode}
                names={['First', 'Second']}
                language={codeLanguageOf(one.programmingLanguage)}
              />
            )
          }
        </Answer>
      )}
    </Answer>
  )
}
