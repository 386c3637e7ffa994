import { Link } from '@tanstack/react-router'
import { useExecutionSource, type Execution } from '../../api/queries/executions.ts'
import { SourceView } from '../../parts/source-view.tsx'
import { codeFrame, faultPlace, nameOf } from '../../rules/code-frame.ts'
import styles from './execution.module.css'

/** Why an execution has not finished, and where in the source that ran. */
export function ErrorCard({ team, execution }: { team: string; execution: Execution }) {
  const { id, error, timeline, status } = execution
  const frames = error?.frames ?? []
  const source = useExecutionSource(team, id, frames.length > 0)
  const place = source.data ? faultPlace(frames, execution.processSlug, source.data) : undefined
  const text =
    place &&
    (source.data?.modules.find(({ name }) => name === nameOf(place.file))?.sourceCode ?? source.data?.sourceCode)
  const lines = place && text !== undefined ? codeFrame(text, place.line) : []
  return (
    <section className={`${styles.fault} ${status === 'KILLED' ? styles.calm : ''}`} aria-label="Error">
      <h2>{error === undefined ? timeline.explanation || 'No reason is known' : `${error.name}: ${error.message}`}</h2>
      {place && lines.length > 0 && (
        <>
          <SourceView
            label="The source at the error"
            source={lines.map(({ text: line }) => line).join('\n')}
            first={lines[0]?.number}
            line={place.line}
          />
          <Link
            to="/t/$team/executions/$executionId"
            params={{ team, executionId: id }}
            search={{ tab: 'source', file: place.file, line: place.line }}
          >
            {place.file}:{place.line}
            {place.function === undefined ? '' : ` in ${place.function}`}
          </Link>
        </>
      )}
    </section>
  )
}
