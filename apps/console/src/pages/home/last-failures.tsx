import { Link } from '@tanstack/react-router'
import { useLastFailures } from '../../api/queries/home.ts'
import { Answer } from '../../parts/page-states.tsx'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './home.module.css'

/** The newest executions that failed, with what they failed of. */
export function LastFailures({ team }: { team: string }) {
  const failures = useLastFailures(team)
  return (
    <Card title="Last failures">
      <Answer of={failures} what="last failures">
        {(rows) =>
          rows.length === 0 ? (
            <p className={styles.soft}>Nothing has failed.</p>
          ) : (
            <ul className={styles.list}>
              {rows.map(({ id, processName, error, timeline, createdAt }) => (
                <li key={id} className={styles.failure}>
                  <Link
                    to="/t/$team/executions/$executionId"
                    params={{ team, executionId: id }}
                    className={styles.name}
                    preload={false}
                  >
                    {processName}
                  </Link>
                  <span className={styles.soft}>
                    <Time at={createdAt} />
                  </span>
                  <span className={styles.reason}>
                    {error === undefined ? (timeline.explanation ?? 'Rejected') : `${error.name}: ${error.message}`}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Card>
  )
}
