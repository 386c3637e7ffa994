import type { Execution } from '../../api/queries/executions.ts'
import { useExecutionLog } from '../../live/execution-log.ts'
import { Fault, Loading } from '../../parts/page-states.tsx'
import { useStoreSize } from '../../parts/use-store-size.ts'
import { isEnd } from '../../rules/executions.ts'
import { TextDiff } from './text-diff.tsx'
import styles from './compare.module.css'

/** So many lines of each log are compared; nobody reads further, and longer ones take long. */
const MOST_LINES = 5000

/** What differs between two logs, without their times, which always do. */
export function ComparedLogs({ team, before, after }: { team: string; before: Execution; after: Execution }) {
  const first = useExecutionLog(team, before.id, isEnd(before.status))
  const second = useExecutionLog(team, after.id, isEnd(after.status))
  const firstSize = useStoreSize(first.store)
  const secondSize = useStoreSize(second.store)
  const error = first.error ?? second.error
  if (error !== undefined)
    return (
      <Fault
        error={error}
        onRetry={() => {
          first.retry()
          second.retry()
        }}
      />
    )
  if (first.state === 'loading' || second.state === 'loading') return <Loading what="logs" />
  return (
    <>
      {Math.max(firstSize, secondSize) > MOST_LINES && (
        <p className={styles.soft}>The first {MOST_LINES.toLocaleString('en')} lines of each are compared.</p>
      )}
      <TextDiff
        label="Log"
        before={first.store.texts(0, Math.min(firstSize, MOST_LINES)).join('\n')}
        after={second.store.texts(0, Math.min(secondSize, MOST_LINES)).join('\n')}
      />
    </>
  )
}
