import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useExecutionRequest, useReplay, type Execution } from '../../api/queries/executions.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Card } from '../../parts/page.tsx'
import { ScrollRegion } from '../../parts/scroll-region.tsx'
import { Time } from '../../parts/time.tsx'
import { laidOut } from '../../rules/json-text.ts'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'
import styles from './execution.module.css'

/** The webhook request that started an execution, and a way to take it once more. */
export function RequestTab({ team, execution }: { team: string; execution: Execution }) {
  if (withoutRequest.has(execution.origin ?? '')) return <NoRequest />
  return <Request team={team} execution={execution} />
}

/** Of these origins none has a request, so that none is asked for. */
const withoutRequest = new Set<string>(['rest', 'schedule', 'process', 'errorHandler'])

function NoRequest() {
  return <Empty title="No request started this execution">Only executions from webhooks and forms have one.</Empty>
}

function Request({ team, execution }: { team: string; execution: Execution }) {
  const request = useExecutionRequest(team, execution.id)
  return (
    <Answer of={request} what="request">
      {(data) =>
        data === null ? (
          <NoRequest />
        ) : (
          <Card
            title={`${data.method} ${data.path}`}
            actions={<ReplayButton team={team} id={execution.id} isWebhook={execution.origin === 'webhook'} />}
          >
            <Facts of={[['Received', <Time key="at" at={data.receivedAt} />]]} />
            <h3>Headers</h3>
            <Facts of={Object.entries(data.headers).map(([name, value]) => [name, String(value)] as const)} />
            {Object.keys(data.query).length > 0 && (
              <>
                <h3>Query</h3>
                <Facts of={Object.entries(data.query).map(([name, value]) => [name, String(value)] as const)} />
              </>
            )}
            {data.rawBody !== undefined && (
              <>
                <h3>Body{data.isBase64 === true ? ' (base64)' : ''}</h3>
                <ScrollRegion label="Body" className={styles.json}>
                  <pre>{laidOut(data.rawBody)}</pre>
                </ScrollRegion>
              </>
            )}
            <p className={styles.soft}>Headers and query values that are credentials are left out.</p>
          </Card>
        )
      }
    </Answer>
  )
}

function ReplayButton({ team, id, isWebhook }: { team: string; id: string; isWebhook: boolean }) {
  const mayRun = useMay('run')
  const replay = useReplay(team)
  const navigate = useNavigate()
  const say = useToast()
  const start = useMutation({
    mutationFn: () => replay.mutateAsync({ id }),
    onSuccess: ({ executionId }) => navigate({ to: '/t/$team/executions/$executionId', params: { team, executionId } }),
    onError: say,
  })
  if (!isWebhook || !mayRun) return null
  return (
    <Button isBusy={start.isPending} onClick={() => start.mutate()}>
      Replay the request
    </Button>
  )
}
