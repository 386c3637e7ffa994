import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useProcessChoices } from '../../api/queries/executions.ts'
import { useSchedules, useTeamZone, type Schedule, useDeleteSchedule } from '../../api/queries/schedules.ts'
import { CurlHint } from '../../parts/curl-hint.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { timeWithZone } from '../process/schedules/time-in-zone.ts'
import { ScheduleActions } from './schedule-actions.tsx'
import styles from './schedules.module.css'
import { Confirm } from '../../parts/confirm.tsx'

/** `create` is what makes a schedule, shown where there is none. */
export function ScheduleList({ team, create }: { team: string; create: ReactNode }) {
  const schedules = useSchedules(team)
  const { data: processes = [] } = useProcessChoices(team)
  const { data: zone } = useTeamZone(team)
  const [deleted, setDeleted] = useState<Schedule>()
  const processOf = ({ processId }: Schedule) => processes.find(({ id }) => id === processId)
  return (
    <Answer of={schedules} what="schedules">
      {({ pages }) => {
        const rows = pages.flatMap(({ data }) => data)
        if (rows.length === 0)
          return (
            <Empty title="Nothing is scheduled">
              <p>A schedule runs a process by a cron, or once at a time.</p>
              {create}
              <CurlHint team={team} method="POST" path="/processes/SLUG/schedule" body={{ cron: '0 8 * * MON-FRI' }} />
            </Empty>
          )
        return (
          <>
            <Table
              caption="Schedules"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { name: 'State', cell: (row) => <Status of={stateOf(row)} /> },
                {
                  name: 'Process',
                  isMain: true,
                  cell: (row) => {
                    const process = processOf(row)
                    return (
                      <>
                        {process === undefined ? (
                          row.processId
                        ) : (
                          <Link
                            className={styles.name}
                            to="/t/$team/processes/$slug/schedules"
                            params={{ team, slug: process.slug }}
                          >
                            {process.name}
                          </Link>
                        )}{' '}
                        <span className={styles.soft}>
                          {row.tag !== undefined && `${row.tag} `}
                          {row.comment}
                        </span>
                      </>
                    )
                  },
                },
                {
                  name: 'When',
                  cell: ({ cron, dateTime }) =>
                    cron === undefined ? (
                      dateTime !== undefined && zone !== undefined && timeWithZone(dateTime, zone)
                    ) : (
                      <code className={styles.line} title={`in ${zone ?? 'the zone of the team'}`}>
                        {cron}
                      </code>
                    ),
                },
                {
                  name: 'Next',
                  cell: ({ nextExecutionAt }) => (
                    <span className={styles.line}>
                      <Time at={nextExecutionAt} />
                    </span>
                  ),
                },
                {
                  name: 'Executions',
                  cell: ({ id }) => (
                    <Link className={styles.line} to="/t/$team/executions" params={{ team }} search={{ schedule: id }}>
                      its executions
                    </Link>
                  ),
                },
                {
                  name: 'Actions',
                  align: 'end',
                  cell: (row) => <ScheduleActions team={team} schedule={row} onDelete={() => setDeleted(row)} />,
                },
              ]}
            />
            <Pager {...schedules} />
            {deleted && (
              <DeleteScheduleDialog team={team} zone={zone} schedule={deleted} onClose={() => setDeleted(undefined)} />
            )}
          </>
        )
      }}
    </Answer>
  )
}

const stateOf = ({ paused, nextExecutionAt }: Schedule): string =>
  paused ? 'PAUSED' : nextExecutionAt === undefined ? 'OVER' : 'ACTIVE'

interface Props {
  team: string
  /** The team's, once it is known. */
  zone: string | undefined
  schedule: Schedule
  onClose: () => void
}

function DeleteScheduleDialog({ team, zone, schedule, onClose }: Props) {
  const { cron, dateTime = '' } = schedule
  const remove = useDeleteSchedule(team)
  return (
    <Confirm
      title="Delete this schedule?"
      verb="Delete"
      isOpen
      onClose={onClose}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(schedule.id, { onSuccess: onClose })}
    >
      <code>{cron ?? (zone === undefined ? dateTime : timeWithZone(dateTime, zone))}</code> starts nothing from then on.
      Its executions stay.
    </Confirm>
  )
}
