import type { ReactNode } from 'react'
import { icons } from '../parts/icons.tsx'
import { clockOf } from '../rules/local-times.ts'
import { TeamLiveContext, useTeamStream } from './use-team-stream.ts'
import styles from './team-live.module.css'

/** Keeps what is below it live, and says above it since when it is not. */
export function TeamLiveRegion({ team, children }: { team: string; children: ReactNode }) {
  const live = useTeamStream(team)
  const { state } = live
  return (
    <TeamLiveContext value={live}>
      <div role="status">
        {state.is === 'lost' && (
          <div className={styles.lost}>
            <icons.warning />
            <span>
              Changes have not come since {clockOf(state.sinceMs)}: {state.why}. Trying again.
            </span>
          </div>
        )}
      </div>
      {children}
    </TeamLiveContext>
  )
}
