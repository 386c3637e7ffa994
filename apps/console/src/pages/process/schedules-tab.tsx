import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useProcessRecord, type Process } from '../../api/queries/processes.ts'
import { useProcessSchedules } from '../../api/queries/process-schedules.ts'
import { useTeamZone } from '../../api/queries/schedules.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import { Card } from '../../parts/page.tsx'
import { Answer } from '../../parts/page-states.tsx'
import { startOf } from '../../rules/json-schema.ts'
import { newSchedule } from '../../rules/schedule-form.ts'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import { useView } from '../../shell/view.ts'
import { ScheduleForm } from './schedules/schedule-form.tsx'
import { ScheduleItem } from './schedules/schedule-item.tsx'
import styles from './tab.module.css'

/** How many schedules show their last firings without being asked. */
const OPEN_AT_FIRST = 5

/** When a process runs by the clock: its schedules, what became of their times, and a new one. */
export function SchedulesTab() {
  const { team, slug } = useParams({ from: '/t/$team/processes/$slug' })
  const record = useProcessRecord(team, slug)
  const zone = useTeamZone(team)
  return (
    <Answer of={record} what="process">
      {({ process }) => (
        <Answer of={zone} what="time zone">
          {(zoneId) => <Schedules key={process.id} team={team} process={process} zone={zoneId} />}
        </Answer>
      )}
    </Answer>
  )
}

function Schedules({ team, process, zone }: { team: string; process: Process; zone: string }) {
  const schedules = useProcessSchedules(team, process.id)
  const mayBuild = useMay('build')
  return (
    <div className={styles.tab}>
      <Answer of={schedules} what="schedules">
        {({ data, total }) => (
          <section aria-label="Schedules" className={styles.tab}>
            {data.length === 0 && (
              <p className={styles.soft}>
                This process has no schedule. {mayBuild ? 'Make one below: it runs by a cron, or once at a time.' : ''}
              </p>
            )}
            {data.map((schedule, index) => (
              <ScheduleItem
                key={schedule.id}
                team={team}
                slug={process.slug}
                schedule={schedule}
                zone={zone}
                schema={process.parametersSchema}
                isOpen={index < OPEN_AT_FIRST}
              />
            ))}
            {total > data.length && <p className={styles.soft}>The newest {data.length} are shown.</p>}
          </section>
        )}
      </Answer>
      {mayBuild && <NewSchedule team={team} process={process} zone={zone} />}
    </div>
  )
}

function NewSchedule({ team, process, zone }: { team: string; process: Process; zone: string }) {
  const say = useToast()
  const view = useView()
  const cron = view.get('cron')
  const [isOpen, setOpen] = useState(true)
  const parameters = (process.parametersSchema && startOf(process.parametersSchema)) ?? {}
  if (!isOpen && cron === '')
    return (
      <div>
        <Button onClick={() => setOpen(true)}>
          <icons.plus /> New schedule
        </Button>
      </div>
    )
  return (
    <Card title="New schedule">
      <ScheduleForm
        key={cron}
        team={team}
        slug={process.slug}
        zone={zone}
        schema={process.parametersSchema}
        initial={newSchedule(zone, parameters, cron || undefined)}
        verb="Make schedule"
        onDone={() => {
          say('The schedule is made')
          setOpen(false)
          if (cron !== '') view.set({ cron: '' }, { byTyping: true })
        }}
      />
    </Card>
  )
}
