import { useNavigate, useSearch } from '@tanstack/react-router'
import { useFirings, useTeamZone } from '../../api/queries/schedules.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import { Answer } from '../../parts/page-states.tsx'
import { useNow } from '../../parts/time.tsx'
import { useCurlKey } from '../../parts/use-curl-key.ts'
import { addDays, addMonths, firstOfMonth, localTime, mondayOf, startOf, type Day } from '../../rules/calendar.ts'
import { ownZone } from '../../rules/local-times.ts'
import { MonthView } from './month-view.tsx'
import { WeekView } from './week-view.tsx'
import styles from './schedules.module.css'

const ROUTE = '/t/$team/schedules'
/** Of years that calendars everywhere can count in. */
const DAY = /^(?:19[7-9]|2\d\d)\d-\d\d-\d\d$/

/** What has fired and what comes, by weeks or months, in the zone of the team or of who looks. */
export function CalendarView({ team }: { team: string }) {
  const zone = useTeamZone(team)
  return (
    <Answer of={zone} what="calendar">
      {(teamZone) => <Calendar team={team} teamZone={teamZone} />}
    </Answer>
  )
}

function Calendar({ team, teamZone }: { team: string; teamZone: string }) {
  const search = useSearch({ from: ROUTE })
  const navigate = useNavigate()
  const zone = search['zone'] === 'own' ? ownZone : teamZone
  const now = useNow()
  const today = localTime(zone, now).day
  const isMonth = search['span'] === 'month'
  const given = search['day']
  const day: Day = typeof given === 'string' && DAY.test(given) && !Number.isNaN(Date.parse(given)) ? given : today
  const first = isMonth ? mondayOf(firstOfMonth(day)) : mondayOf(day)
  const end = isMonth ? addDays(mondayOf(addDays(addMonths(day, 1), -1)), 7) : addDays(first, 7)
  const from = new Date(startOf(zone, first)).toISOString()
  const to = new Date(startOf(zone, end)).toISOString()
  const firings = useFirings(team, from, to)
  useCurlKey(team, { path: '/schedules/firings', query: { from, to } })
  const show = (next: Record<string, string | undefined>) =>
    void navigate({ to: ROUTE, params: { team }, search: { ...search, ...next } })
  const step = (by: 1 | -1) => show({ day: isMonth ? addMonths(day, by) : addDays(first, 7 * by) })
  return (
    <>
      <div className={styles.bar}>
        <Button aria-label="Before" onClick={() => step(-1)}>
          <icons.left />
        </Button>
        <Button onClick={() => show({ day: undefined })}>Today</Button>
        <Button aria-label="After" onClick={() => step(1)}>
          <icons.right />
        </Button>
        <h2>{heading(isMonth ? firstOfMonth(day) : first, isMonth)}</h2>
        <span className={styles.spring} />
        <label>
          Show{' '}
          <select value={isMonth ? 'month' : 'week'} onChange={(event) => show({ span: event.target.value })}>
            <option value="week">a week</option>
            <option value="month">a month</option>
          </select>
        </label>
        <label>
          in{' '}
          <select value={zone === teamZone ? 'team' : 'own'} onChange={(event) => show({ zone: event.target.value })}>
            <option value="team">{teamZone}, the zone of the team</option>
            {ownZone !== teamZone && <option value="own">{ownZone}, yours</option>}
          </select>
        </label>
      </div>
      <Answer of={firings} what="firings">
        {(data) => {
          const shown = {
            team,
            zone,
            otherZone: zone === teamZone ? ownZone : teamZone,
            firings: data,
            today,
            nowMs: now,
          }
          return isMonth ? (
            <MonthView {...shown} first={first} end={end} month={day.slice(0, 7)} />
          ) : (
            <WeekView {...shown} first={first} />
          )
        }}
      </Answer>
    </>
  )
}

const month = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

const heading = (first: Day, isMonth: boolean): string =>
  isMonth
    ? month.format(new Date(first))
    : `${date.format(new Date(first))} to ${date.format(new Date(addDays(first, 6)))}`
