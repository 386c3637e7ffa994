import { Link } from '@tanstack/react-router'
import { useWaiting } from '../../api/queries/executions.ts'
import { Time } from '../../parts/time.tsx'
import styles from './execution.module.css'

/** Why an execution waits, its position in the queue, what to do, and what occupies the slots. */
export function WaitingCard({ team, id }: { team: string; id: string }) {
  const { data } = useWaiting(team, id, true)
  if (data === undefined || !data.waiting) return null
  const { reason, position, inUse, allowed, remedy, since, code } = data
  return (
    <section className={`${styles.fault} ${styles.waiting}`} aria-label="Why it waits">
      <h2>{reason ?? 'It waits'}</h2>
      <p>
        {position !== undefined && <>It is {ordinal(position)} in line. </>}
        {inUse !== undefined && allowed !== undefined && (
          <>
            {code === 'team_limit' ? 'The team runs' : 'The pool has'} {inUse} of {allowed}
            {code === 'team_limit' ? '. ' : ' slots in use. '}
          </>
        )}
        {since !== undefined && (
          <>
            Since <Time at={since} />.
          </>
        )}
      </p>
      {remedy !== undefined && <p className={styles.soft}>{remedy}</p>}
      {code === 'packages' ? (
        <Link to="/t/$team/dependencies" params={{ team }}>
          See the installation
        </Link>
      ) : (
        <Link to="/t/$team/executions" params={{ team }} search={{ status: 'RUNNING' }}>
          See what runs now
        </Link>
      )}
    </section>
  )
}

const rules = new Intl.PluralRules('en', { type: 'ordinal' })
const endings: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' }
const ordinal = (position: number): string =>
  position > 1000 ? 'beyond the 1000th' : `${position}${endings[rules.select(position)] ?? 'th'}`
