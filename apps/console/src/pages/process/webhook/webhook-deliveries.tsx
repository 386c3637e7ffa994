import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useReplay } from '../../../api/queries/executions.ts'
import { useDeliveries, type Delivery } from '../../../api/queries/webhook-lab.ts'
import { Button } from '../../../parts/button.tsx'
import { icons } from '../../../parts/icons.tsx'
import { Card } from '../../../parts/page.tsx'
import { Answer } from '../../../parts/page-states.tsx'
import { Table, type Column } from '../../../parts/table.tsx'
import { size, Time } from '../../../parts/time.tsx'
import { useMay } from '../../../session/session-context.ts'
import { useToast } from '../../../shell/toasts.tsx'
import { ReplayDialog } from './replay-dialog.tsx'
import { StatusCode } from './status-code.tsx'
import styles from '../tab.module.css'

type Show = 'all' | 'refused' | 'started'

const choices: [Show, string][] = [
  ['all', 'All'],
  ['started', 'Started'],
  ['refused', 'Refused'],
]

/** The last calls of the webhook: what they were answered, and what they started or why they were refused. */
export function WebhookDeliveries({ team, slug }: { team: string; slug: string }) {
  const deliveries = useDeliveries(team, slug)
  const { show = 'all' } = useSearch({ from: '/t/$team/processes/$slug/webhook' }) as { show?: Show }
  const navigate = useNavigate({ from: '/t/$team/processes/$slug/webhook' })
  return (
    <Card
      title="Deliveries"
      actions={
        <div className={styles.pills} role="group" aria-label="Show deliveries">
          {choices.map(([value, name]) => (
            <Button
              key={value}
              aria-pressed={value === show}
              onClick={() =>
                void navigate({
                  search: { show: value === 'all' ? undefined : value },
                  resetScroll: false,
                })
              }
            >
              {name}
            </Button>
          ))}
        </div>
      }
    >
      <Answer of={deliveries} what="deliveries">
        {(all) => <Deliveries team={team} slug={slug} all={all} show={show} />}
      </Answer>
    </Card>
  )
}

function Deliveries({ team, slug, all, show }: { team: string; slug: string; all: Delivery[]; show: Show }) {
  const mayRun = useMay('run')
  const [replayed, setReplayed] = useState<string>()
  const replay = useReplay(team)
  const navigate = useNavigate()
  const say = useToast()
  const again = (id: string) => {
    if (replay.isPending) return
    replay.mutate(
      { id },
      {
        onSuccess: ({ executionId }) =>
          void navigate({ to: '/t/$team/executions/$executionId', params: { team, executionId } }),
        onError: say,
      },
    )
  }
  const rows = all.filter(
    ({ reason }) => show === 'all' || (show === 'refused' ? reason !== undefined : reason === undefined),
  )
  if (rows.length === 0)
    return (
      <p className={styles.soft}>
        {all.length === 0
          ? 'Nothing has come yet. Send a request above, or call the address; it is listed here once it is answered.'
          : 'None of the last deliveries fits.'}
      </p>
    )
  const columns: Column<Delivery>[] = [
    { name: 'Answered', cell: ({ status }) => <StatusCode of={status} /> },
    { name: 'Method', cell: ({ method }) => <code>{method}</code> },
    {
      name: 'Outcome',
      isMain: true,
      cell: ({ executionId, reason }) =>
        executionId === undefined ? (
          <span>Refused: {reason ?? 'the reason is not known'}</span>
        ) : (
          <Link to="/t/$team/executions/$executionId" params={{ team, executionId }}>
            Execution {executionId.slice(-8)}
          </Link>
        ),
    },
    { name: 'Body', align: 'end', cell: ({ size: bytes }) => size(bytes) },
    { name: 'Came', cell: ({ at }) => <Time at={at} /> },
    {
      name: 'Replay',
      align: 'end',
      cell: ({ executionId }) =>
        executionId !== undefined && mayRun ? (
          <span className={styles.buttons}>
            <Button isBusy={replay.isPending && replay.variables.id === executionId} onClick={() => again(executionId)}>
              <icons.rerun />
              Replay
            </Button>
            <Button
              look="quiet"
              aria-label={`Replay ${executionId.slice(-8)} on another version`}
              title="On another version"
              onClick={() => setReplayed(executionId)}
            >
              <icons.more />
            </Button>
          </span>
        ) : (
          <span className={styles.soft}>–</span>
        ),
    },
  ]
  return (
    <>
      <Table caption="Deliveries" columns={columns} rows={rows} keyOf={({ id }) => id} />
      <p className={styles.soft}>The last 100 calls. One whose caller still waits is not here yet.</p>
      <ReplayDialog team={team} slug={slug} executionId={replayed} onClose={() => setReplayed(undefined)} />
    </>
  )
}
