import { Link } from '@tanstack/react-router'
import { useErrorHandler } from '../../../api/queries/process-settings.ts'
import type { Process } from '../../../api/queries/processes.ts'
import layout from '../../../parts/layout.module.css'
import { Card } from '../../../parts/page.tsx'
import { Time } from '../../../parts/time.tsx'

/** What is known of a process and can't be changed here. */
export function AboutProcess({ team, process }: { team: string; process: Process }) {
  const { id, revision, createdBy, createdAt, updatedBy, updatedAt, origin } = process
  return (
    <Card title="About">
      <dl className={layout.facts}>
        <dt>Id</dt>
        <dd>
          <code>{id}</code>
        </dd>
        <dt>Language</dt>
        <dd>{process.programmingLanguage === 'PYTHON' ? 'Python' : 'JavaScript'}</dd>
        <dt>Revision</dt>
        <dd>{revision}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={createdAt} /> by {createdBy}
        </dd>
        <dt>Changed</dt>
        <dd>
          <Time at={updatedAt} /> by {updatedBy}
        </dd>
        <dt>Comes from</dt>
        <dd>
          {origin === undefined
            ? 'this service'
            : [origin.repository, origin.commit?.slice(0, 12)].filter(Boolean).join(' @ ') || origin.digest}
        </dd>
        <dt>When it fails</dt>
        <dd>
          <ErrorHandler team={team} slug={process.slug} />
        </dd>
      </dl>
    </Card>
  )
}

/** The process that runs after failures is one for all processes of a team. */
function ErrorHandler({ team, slug }: { team: string; slug: string }) {
  const { data: handler } = useErrorHandler(team)
  if (handler === undefined) return <>–</>
  const settings = (
    <Link to="/t/$team/settings" params={{ team }}>
      settings of the team
    </Link>
  )
  if (handler === null) return <>nothing runs; a process for that is named in the {settings}</>
  if (handler.processSlug === slug)
    return <>this is the process that runs after failures of others, by the {settings}</>
  return (
    <>
      <Link to="/t/$team/processes/$slug" params={{ team, slug: handler.processSlug }}>
        {handler.processSlug}
      </Link>{' '}
      runs, by the {settings}
    </>
  )
}
