import { Link } from '@tanstack/react-router'
import type { AuditEvent } from '../../api/queries/audit.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'

interface Props {
  team: string
  event: AuditEvent
  /** Undefined for what is gone or has none. */
  name: string | undefined
  onFilter: () => void
}

/** What something was done to: a link to it by its name, its id, and a way to all that was done to it. */
export function Entity({ team, event, name, onFilter }: Props) {
  const { entityId } = event
  return (
    <span className={`${layout.row} ${layout.together}`}>
      <span>
        <Place team={team} event={event} name={name} />
        {name !== undefined && name !== entityId && (
          <>
            {' '}
            <code className={layout.soft}>{entityId}</code>
          </>
        )}
      </span>
      <Button
        look="quiet"
        aria-label={`All events of ${name ?? ''} ${entityId}`}
        title="All events of it"
        onClick={onFilter}
      >
        <icons.search />
      </Button>
    </span>
  )
}

function Place({ team, event: { type, entityId }, name }: Omit<Props, 'onFilter'>) {
  const text = name ?? <code>{entityId}</code>
  switch (type) {
    case 'PROCESS':
      return (
        <Link to="/t/$team/processes/$slug/edit" params={{ team, slug: name ?? entityId }}>
          {text}
        </Link>
      )
    case 'EXECUTION':
      return (
        <Link to="/t/$team/executions/$executionId" params={{ team, executionId: entityId }}>
          {text}
        </Link>
      )
    case 'MODULE':
      return (
        <Link to="/t/$team/modules/$moduleId" params={{ team, moduleId: entityId }}>
          {text}
        </Link>
      )
    case 'SANDBOX':
      return (
        <Link to="/t/$team/sandboxes/$sandboxId" params={{ team, sandboxId: entityId }}>
          {text}
        </Link>
      )
    default:
      return text
  }
}
