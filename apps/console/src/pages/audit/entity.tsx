import { Link } from '@tanstack/react-router'
import type { AuditEvent } from '../../api/queries/audit.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'

interface Props {
  team: string
  event: AuditEvent
  onFilter: () => void
}

/** What something was done to: a link to it, and a way to all that was done to it. */
export function Entity({ team, event, onFilter }: Props) {
  return (
    <span className={`${layout.row} ${layout.together}`}>
      <Place team={team} event={event} />
      <Button look="quiet" aria-label={`All events of ${event.entityId}`} title="All events of it" onClick={onFilter}>
        <icons.search />
      </Button>
    </span>
  )
}

function Place({ team, event: { type, entityId } }: Omit<Props, 'onFilter'>) {
  const id = <code>{entityId}</code>
  switch (type) {
    case 'PROCESS':
      return (
        <Link to="/t/$team/processes/$slug/edit" params={{ team, slug: entityId }}>
          {id}
        </Link>
      )
    case 'EXECUTION':
      return (
        <Link to="/t/$team/executions/$executionId" params={{ team, executionId: entityId }}>
          {id}
        </Link>
      )
    case 'MODULE':
      return (
        <Link to="/t/$team/modules/$moduleId" params={{ team, moduleId: entityId }}>
          {id}
        </Link>
      )
    case 'SANDBOX':
      return (
        <Link to="/t/$team/sandboxes/$sandboxId" params={{ team, sandboxId: entityId }}>
          {id}
        </Link>
      )
    default:
      return id
  }
}
