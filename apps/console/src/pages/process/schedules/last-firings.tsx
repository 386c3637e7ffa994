import { Link } from '@tanstack/react-router'
import { useLastFirings, type ScheduleFiring } from '../../../api/queries/process-schedules.ts'
import type { IconName } from '../../../parts/icon-outlines.ts'
import { icons } from '../../../parts/icons.tsx'
import { Answer } from '../../../parts/page-states.tsx'
import { timeInZone } from './time-in-zone.ts'
import styles from './schedules.module.css'
import tab from '../tab.module.css'

const SHOWN = 8

const looks: Record<ScheduleFiring['state'], [icon: IconName, word: string, tone: string | undefined]> = {
  coming: ['clock', 'Coming', undefined],
  waiting: ['clock', 'Waiting', styles.warn],
  started: ['check', 'Started', styles.good],
  skipped: ['right', 'Skipped', styles.warn],
  rejected: ['cross', 'Rejected', styles.bad],
}

/** What became of the last times of a schedule, each with its execution or the reason why there is none. */
export function LastFirings({ team, id, zone }: { team: string; id: string; zone: string }) {
  const firings = useLastFirings(team, id, SHOWN)
  return (
    <Answer of={firings} what="firings">
      {(all) =>
        all.length === 0 ? (
          <p className={tab.soft}>No run was due yet.</p>
        ) : (
          <ul className={styles.firings}>
            {all.map((firing) => (
              <Firing key={firing.nominalAt} team={team} firing={firing} zone={zone} />
            ))}
          </ul>
        )
      }
    </Answer>
  )
}

function Firing({ team, firing, zone }: { team: string; firing: ScheduleFiring; zone: string }) {
  const { state, nominalAt, executionId, reason } = firing
  const [icon, word, tone] = looks[state]
  const Icon = icons[icon]
  return (
    <li>
      <span className={`${styles.state} ${tone ?? ''}`}>
        <Icon />
        {word}
      </span>
      <time dateTime={nominalAt} title={nominalAt}>
        {timeInZone(nominalAt, zone)}
      </time>
      {executionId !== undefined && (
        <Link to="/t/$team/executions/$executionId" params={{ team, executionId }}>
          {executionId.slice(-8)}
        </Link>
      )}
      {reason && <span className={tab.soft}>{reason}</span>}
    </li>
  )
}
