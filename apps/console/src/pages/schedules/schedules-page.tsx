import { Link, useParams, useSearch } from '@tanstack/react-router'
import { Page } from '../../parts/page.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { CalendarView } from './calendar-view.tsx'
import { ScheduleList } from './schedule-list.tsx'

const ROUTE = '/t/$team/schedules'
const views = [
  ['list', 'List'],
  ['calendar', 'Calendar'],
] as const

/** When processes of a team start by themselves. */
export function SchedulesPage() {
  const { team } = useParams({ from: ROUTE })
  const { view = 'list' } = useSearch({ from: ROUTE })
  return (
    <Page
      title="Schedules"
      call={view === 'calendar' ? undefined : { path: '/schedules' }}
      tabs={
        <Tabs label="Views">
          {views.map(([name, word]) => (
            <Link
              key={name}
              to={ROUTE}
              params={{ team }}
              search={name === 'list' ? {} : { view: name }}
              aria-current={view === name ? 'page' : undefined}
              activeOptions={{ exact: true, includeSearch: true }}
            >
              {word}
            </Link>
          ))}
        </Tabs>
      }
    >
      {view === 'calendar' ? <CalendarView team={team} /> : <ScheduleList team={team} />}
    </Page>
  )
}
