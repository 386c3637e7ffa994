import type { Schemas } from '../api/client.ts'
import { duration, Time } from './time.tsx'
import { Status } from './status.tsx'
import styles from './timeline.module.css'

/** The statuses of an execution as they came, with how long each lasted and what was said of it. */
export function Timeline({ of: { events }, nowMs }: { of: Schemas['ExecutionTimeline']; nowMs: number }) {
  return (
    <ol className={styles.timeline}>
      {events.map(({ status, timestamp, explanation }, at) => {
        const next = events[at + 1]?.timestamp
        const isLast = next === undefined
        const lastedMs = (isLast ? nowMs : Date.parse(next)) - Date.parse(timestamp)
        const isOver = /^(FINISHED|ERROR|KILLED|REJECTED)$/.test(status)
        return (
          <li key={`${status} ${timestamp}`} aria-current={isLast ? 'step' : undefined}>
            <span className={styles.row}>
              <Status of={status} />
              <span className={styles.when}>
                <Time at={timestamp} />
                {!isOver && <> · {duration(Math.max(0, lastedMs))}</>}
              </span>
            </span>
            {explanation !== undefined && <p className={styles.said}>{explanation}</p>}
          </li>
        )
      })}
    </ol>
  )
}
