import { useEffect, useRef } from 'react'
import { ScrollRegion } from '../../parts/scroll-region.tsx'
import { showInside } from '../../parts/show-inside.ts'
import { addDays, clockChange, inCells, localTime, type Day, type Firing } from '../../rules/calendar.ts'
import { ChangeNote, DayName } from './day-name.tsx'
import { FiringChips } from './firing-chip.tsx'
import styles from './schedules.module.css'

interface Props {
  team: string
  zone: string
  otherZone: string
  firings: readonly Firing[]
  first: Day
  end: Day
  month: string
  today: Day
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** A month by weeks and days of a zone. */
export function MonthView({ team, zone, otherZone, firings, first, end, month, today }: Props) {
  const calendar = useRef<HTMLDivElement>(null)
  useEffect(() => showInside(calendar.current, '[aria-current=date]'), [first])
  const weeks: Day[][] = []
  for (let monday = first; monday < end; monday = addDays(monday, 7))
    weeks.push(Array.from({ length: 7 }, (_, index) => addDays(monday, index)))
  const cells = inCells(firings, (atMs) => localTime(zone, atMs).day)
  return (
    <ScrollRegion ref={calendar} label="Month" className={styles.calendar}>
      <table>
        <caption className="visually-hidden">Firings by day</caption>
        <thead>
          <tr>
            {WEEKDAYS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((days) => (
            <tr key={days[0]}>
              {days.map((day) => {
                const groups = cells.get(day) ?? []
                return (
                  <td
                    key={day}
                    className={`${styles.day} ${day.startsWith(month) ? '' : styles.outside} ${day === today ? styles.now : ''}`}
                  >
                    <strong aria-current={day === today ? 'date' : undefined}>
                      <DayName day={day} />
                    </strong>
                    <ChangeNote change={clockChange(zone, day)} />
                    <FiringChips {...{ team, groups, zone, otherZone }} />
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}
