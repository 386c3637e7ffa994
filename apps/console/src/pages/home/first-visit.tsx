import { Link, useNavigate } from '@tanstack/react-router'
import { useRunSample } from '../../api/queries/home.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import { Empty, Fault } from '../../parts/page-states.tsx'
import { ScrollRegion } from '../../parts/scroll-region.tsx'
import { sample } from '../../rules/process-templates.ts'
import { useMay } from '../../session/session-context.ts'
import styles from './home.module.css'

/** The one thing to do first: to see something run. */
export function FirstVisit({ team }: { team: string }) {
  const run = useRunSample(team)
  const navigate = useNavigate()
  const mayBuild = useMay('build')
  const mayRun = useMay('run')
  const canRun = mayBuild && mayRun
  return (
    <Empty title="This team has no processes yet">
      <p>A process is code that runs by a call, its webhook, a schedule or another process.</p>
      <Button
        look="primary"
        isBusy={run.isPending}
        disabled={!canRun}
        title={canRun ? undefined : 'Needs the scopes build and run'}
        onClick={() =>
          run.mutate(undefined, {
            onSuccess: ({ executionId }) =>
              void navigate({ to: '/t/$team/executions/$executionId', params: { team, executionId } }),
          })
        }
      >
        <icons.play /> Run a sample
      </Button>
      <p className={styles.soft}>
        It makes this process, runs it, and shows its log while it comes. Or{' '}
        <Link to="/t/$team/processes" params={{ team }}>
          make a process of your own
        </Link>
        .
      </p>
      {run.error && <Fault error={run.error} />}
      <ScrollRegion label="The code of the sample" className={styles.code}>
        <pre>{sample.sourceCode}</pre>
      </ScrollRegion>
    </Empty>
  )
}
