import { Link } from '@tanstack/react-router'
import type { IconName } from '../../parts/icon-outlines.ts'
import { icons } from '../../parts/icons.tsx'
import { clock, overlapsIn, type Firing, type FiringGroup } from '../../rules/calendar.ts'
import styles from './schedules.module.css'

const looks: Record<Firing['state'], [icon: IconName, word: string]> = {
  coming: ['clock', 'coming'],
  waiting: ['pause', 'waiting'],
  started: ['check', 'started'],
  skipped: ['right', 'skipped'],
  rejected: ['cross', 'rejected'],
}

interface Props {
  team: string
  group: FiringGroup
  zone: string
  otherZone: string
}

/** What a cell of the calendar shows: its firings by schedule, and whether some are due at the same time. */
export function FiringChips({ groups, ...where }: Omit<Props, 'group'> & { groups: FiringGroup[] }) {
  const overlaps = overlapsIn(groups)
  return (
    <>
      {groups.map((group) => (
        <FiringChip key={`${group.scheduleId} ${group.state}`} group={group} {...where} />
      ))}
      {overlaps > 0 && (
        <span className={styles.overlap}>
          <icons.warning size={12} /> {overlaps} at the same time
        </span>
      )}
    </>
  )
}

/** The firings of a schedule in one cell: one leads to its execution, several to the executions of the schedule. */
function FiringChip({ team, group, zone, otherZone }: Props) {
  const { firings, processSlug, scheduleId, state } = group
  const [only] = firings
  const [icon, word] = looks[state]
  const Icon = icons[icon]
  const content = (
    <>
      <Icon size={12} />
      <span className="visually-hidden">{word}: </span>
      {only !== undefined && firings.length === 1 && <>{clock(zone, Date.parse(only.nominalAt))} </>}
      {processSlug || 'a process that is gone'}
      {firings.length > 1 && ` ×${firings.length}`}
    </>
  )
  const look = { className: `${styles.chip} ${styles[state]}`, title: titleOf(group, zone, otherZone) }
  if (firings.length === 1 && only?.executionId !== undefined)
    return (
      <Link
        {...look}
        to="/t/$team/executions/$executionId"
        params={{ team, executionId: only.executionId }}
        preload={false}
      >
        {content}
      </Link>
    )
  if (state === 'coming')
    return (
      <Link {...look} to="/t/$team/processes/$slug/schedules" params={{ team, slug: processSlug }} preload={false}>
        {content}
      </Link>
    )
  return (
    <Link {...look} to="/t/$team/executions" params={{ team }} search={{ schedule: scheduleId }} preload={false}>
      {content}
    </Link>
  )
}

/** Times in both zones and reasons, of the first few. */
function titleOf({ firings }: FiringGroup, zone: string, otherZone: string): string {
  const lines = firings.slice(0, 6).map(({ nominalAt, state, reason }) => {
    const at = Date.parse(nominalAt)
    const other = zone === otherZone ? '' : `, ${clock(otherZone, at)} in ${otherZone}`
    return `${clock(zone, at)}${other}: ${looks[state][1]}${reason === undefined ? '' : `, ${reason}`}`
  })
  return firings.length > 6 ? [...lines, `and ${firings.length - 6} more`].join('\n') : lines.join('\n')
}
