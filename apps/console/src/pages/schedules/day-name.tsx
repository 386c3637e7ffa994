import { icons } from '../../parts/icons.tsx'
import type { ClockChange, Day } from '../../rules/calendar.ts'
import styles from './schedules.module.css'

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })

export const DayName = ({ day }: { day: Day }) => <time dateTime={day}>{weekday.format(new Date(day))}</time>

/** Says that the clocks change on a day. */
export function ChangeNote({ change }: { change: ClockChange | undefined }) {
  if (change === undefined) return null
  const { kind, from, to } = change
  return (
    <span className={styles.change}>
      <icons.clock size={12} /> {from}–{to} {kind === 'gap' ? 'is left out' : 'comes twice'}
    </span>
  )
}
