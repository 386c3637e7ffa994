import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useStatistics } from '../../api/queries/executions.ts'
import { useLimits } from '../../api/queries/team.ts'
import { Fault } from '../../parts/page-states.tsx'
import { Progress } from '../../parts/progress.tsx'
import { useNow } from '../../parts/time.tsx'
import { failedIn, HOUR_MS, lastDay, sum } from '../../rules/last-day.ts'
import styles from './home.module.css'

/** What the team has in use of what it may have, and how its last day was. */
export function InUse({ team }: { team: string }) {
  const { data, error, refetch } = useLimits(team)
  const hour = Math.floor(useNow() / HOUR_MS) * HOUR_MS
  const { from, to } = lastDay(hour)
  const day = useStatistics(team, { from, to, bucket: 'hour' })
  const points = day.data?.series[0]?.points
  const failed = points && sum(points.map(failedIn))
  const ended = points && sum(points.map(({ finished }) => finished)) + (failed ?? 0)
  const slots = data && sum(data.agentPools.map((pool) => pool.slots))
  const free = data && sum(data.agentPools.map((pool) => pool.freeSlots))
  const running = data?.limits.find(({ name }) => name === 'running')
  const queued = data?.limits.find(({ name }) => name === 'queued')
  return (
    <>
      {error !== null && data === undefined && <Fault error={error} onRetry={() => void refetch()} />}
      <dl className={styles.figures}>
        <Figure name="Running" allowed={running?.allowed} inUse={running?.inUse}>
          <Link to="/t/$team/executions" params={{ team }} search={{ status: 'RUNNING,DEQUEUED' }}>
            {running?.inUse ?? '–'}
          </Link>
        </Figure>
        <Figure name="Queued" allowed={queued?.allowed} inUse={queued?.inUse}>
          <Link to="/t/$team/executions" params={{ team }} search={{ status: 'CREATED,QUEUED' }}>
            {queued?.inUse ?? '–'}
          </Link>
        </Figure>
        <Figure name="Slots of runners" allowed={slots} inUse={slots === undefined ? undefined : slots - (free ?? 0)}>
          {slots === 0 ? <span className={styles.bad}>no runner</span> : (free ?? '–')}
          {slots !== undefined && slots > 0 && <small> free</small>}
        </Figure>
        <Figure name="Ended in 24 hours" note={failed !== undefined && <Failed {...{ team, from, failed, ended }} />}>
          {ended?.toLocaleString('en') ?? '–'}
        </Figure>
      </dl>
    </>
  )
}

function Failed({ team, from, failed, ended = 0 }: { team: string; from: string; failed: number; ended?: number }) {
  if (failed === 0) return 'none failed'
  return (
    <>
      <Link
        to="/t/$team/executions"
        params={{ team }}
        search={{ status: 'ERROR,KILLED,REJECTED', trial: 'false', from }}
      >
        {failed.toLocaleString('en')} failed
      </Link>
      , {((failed / ended) * 100).toFixed(failed < ended / 100 ? 1 : 0)}&nbsp;%
    </>
  )
}

interface FigureProps {
  name: string
  allowed?: number
  inUse?: number
  note?: ReactNode
  children: ReactNode
}

function Figure({ name, allowed, inUse = 0, note, children }: FigureProps) {
  const share = allowed ? inUse / allowed : 0
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd className={styles.value}>{children}</dd>
      {note && <dd className={styles.note}>{note}</dd>}
      {allowed !== undefined && allowed > 0 && (
        <dd>
          <Progress
            label={`${name}: in use`}
            value={inUse}
            max={allowed}
            note={`of ${allowed.toLocaleString('en')}`}
            tone={share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : undefined}
          />
        </dd>
      )}
    </div>
  )
}
