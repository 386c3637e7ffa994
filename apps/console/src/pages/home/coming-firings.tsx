import { Link } from '@tanstack/react-router'
import { useComingFirings } from '../../api/queries/home.ts'
import { Answer } from '../../parts/page-states.tsx'
import { Card } from '../../parts/page.tsx'
import { Time, useNow } from '../../parts/time.tsx'
import { clockOf, ownZone } from '../../rules/local-times.ts'
import styles from './home.module.css'

const MINUTE_MS = 60_000
const SHOWN = 8

/** What the schedules start next. */
export function ComingFirings({ team }: { team: string }) {
  const now = useNow()
  const firings = useComingFirings(team, Math.floor(now / MINUTE_MS) * MINUTE_MS)
  return (
    <Card
      title="Coming firings"
      actions={
        <Link to="/t/$team/schedules" params={{ team }} search={{ view: 'calendar' }} className={styles.more}>
          Calendar
        </Link>
      }
    >
      <Answer of={firings} what="coming firings">
        {(all) => {
          const coming = all.filter(({ nominalAt }) => Date.parse(nominalAt) >= now)
          if (coming.length === 0) return <p className={styles.soft}>Nothing comes in the next 24 hours.</p>
          return (
            <>
              <ul className={styles.list}>
                {coming.slice(0, SHOWN).map(({ scheduleId, processSlug, nominalAt }) => (
                  <li key={scheduleId + nominalAt}>
                    <Link
                      to="/t/$team/processes/$slug/schedules"
                      params={{ team, slug: processSlug }}
                      className={styles.name}
                    >
                      {processSlug}
                    </Link>
                    <span className={styles.soft}>
                      {clockOf(Date.parse(nominalAt))}, <Time at={nominalAt} />
                    </span>
                  </li>
                ))}
              </ul>
              <p className={styles.soft}>Times of {ownZone}.</p>
            </>
          )
        }}
      </Answer>
    </Card>
  )
}
