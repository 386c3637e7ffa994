import { useEffect, useRef } from 'react'
import { ScrollRegion } from '../../parts/scroll-region.tsx'
import { showInside } from '../../parts/show-inside.ts'
import { addDays, clockChange, inCells, localTime, type Day, type Firing } from '../../rules/calendar.ts'
import { DayName, ChangeNote } from './day-name.tsx'
import { FiringChips } from './firing-chip.tsx'
import styles from './schedules.module.css'

interface Props {
  team: string
  zone: string
  otherZone: string
  firings: readonly Firing[]
  first: Day
  today: Day
  nowMs: number
}

const HOURS = Array.from({ length: 24 }, (_, hour) => hour)

/** The firings of a week by day and hour in a zone. */
export function WeekView({ team, zone, otherZone, firings, first, today, nowMs }: Props) {
  const calendar = useRef<HTMLDivElement>(null)
  useEffect(() => showInside(calendar.current, '[aria-current=date]'), [first])
  const days = Array.from({ length: 7 }, (_, index) => addDays(first, index))
  const changes = new Map(days.map((day) => [day, clockChange(zone, day)]))
  const cells = inCells(firings, (atMs) => {
    const { day, hour } = localTime(zone, atMs)
    return `${day} ${hour}`
  })
  const present = localTime(zone, nowMs)
  return (
    <ScrollRegion ref={calendar} label="Week" className={styles.calendar}>
      <table>
        <caption className="visually-hidden">Firings by day and hour</caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Hour</span>
            </th>
            {days.map((day) => (
              <th key={day} scope="col" aria-current={day === today ? 'date' : undefined}>
                <DayName day={day} />
                <ChangeNote change={changes.get(day)} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {HOURS.map((hour) => (
            <tr key={hour}>
              <th scope="row">{String(hour).padStart(2, '0')}:00</th>
              {days.map((day) => {
                const groups = cells.get(`${day} ${hour}`) ?? []
                const change = changes.get(day)
                const isChanged = change !== undefined && Number(change.from.slice(0, 2)) === hour
                const isNow = present.day === day && present.hour === hour
                return (
                  <td
                    key={day}
                    className={`${isChanged ? styles[change.kind] : ''} ${isNow ? styles.now : ''}`}
                    title={
                      isChanged
                        ? change.kind === 'gap'
                          ? 'The clocks leave this out'
                          : 'The clocks show this twice'
                        : undefined
                    }
                  >
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
