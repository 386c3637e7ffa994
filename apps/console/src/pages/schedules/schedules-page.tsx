import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useKeys } from '../../parts/use-keys.ts'
import { useMay } from '../../session/session-context.ts'
import { CalendarView } from './calendar-view.tsx'
import { NewSchedule } from './new-schedule.tsx'
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
  const mayBuild = useMay('build')
  const [isOpen, setOpen] = useState(false)
  useKeys({ n: () => mayBuild && setOpen(true) })
  const create = (
    <Button
      look="primary"
      disabled={!mayBuild}
      title={mayBuild ? 'New schedule (n)' : 'Needs the scope build'}
      onClick={() => setOpen(true)}
    >
      <icons.plus /> New schedule
    </Button>
  )
  return (
    <Page
      title="Schedules"
      actions={create}
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
      {view === 'calendar' ? <CalendarView team={team} /> : <ScheduleList team={team} create={create} />}
      <NewSchedule team={team} isOpen={isOpen} onClose={() => setOpen(false)} />
    </Page>
  )
}
