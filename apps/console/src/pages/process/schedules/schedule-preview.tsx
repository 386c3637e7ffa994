import type { PreviewedTime } from '../../../api/queries/process-schedules.ts'
import { icons } from '../../../parts/icons.tsx'
import { Time } from '../../../parts/time.tsx'
import { ownZone } from '../../../rules/local-times.ts'
import { timeInZone } from './time-in-zone.ts'
import styles from './schedules.module.css'
import tab from '../tab.module.css'

interface Props {
  zone: string
  times: readonly PreviewedTime[]
  /** Those of what was typed before, while new ones are asked for. */
  isOld: boolean
}

const notes = {
  gap: 'The clocks leave this time out: it comes right after.',
  repeated: 'The clocks show this time twice.',
}

/** The next times of what is being typed, in the zone that they are read in and in one's own where that is another. */
export function SchedulePreview({ zone, times, isOld }: Props) {
  if (times.length === 0) return <p className={tab.soft}>It is never due.</p>
  return (
    <div className={isOld ? styles.old : undefined}>
      <ol className={styles.times}>
        {times.map(({ at, note }) => (
          <li key={at}>
            <span className={styles.time}>{timeInZone(at, zone)}</span>
            <span className={tab.soft}>
              <Time at={at} />
              {ownZone !== zone && `, ${timeInZone(at, ownZone)} here`}
            </span>
            {note && (
              <span className={styles.note}>
                <icons.warning />
                {notes[note]}
              </span>
            )}
          </li>
        ))}
      </ol>
      <p className={tab.soft}>Times of {zone}.</p>
    </div>
  )
}
