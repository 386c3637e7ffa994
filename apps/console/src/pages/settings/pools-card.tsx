import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { useWaitingByPool } from '../../api/queries/executions.ts'
import layout from '../../parts/layout.module.css'
import { Card } from '../../parts/page.tsx'
import { Progress } from '../../parts/progress.tsx'
import { Pill } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { languageNames } from '../../rules/languages.ts'

interface Props {
  team: string
  pools: readonly Schemas['AgentPool'][]
  /** How many runs of the team wait, in all pools. */
  queued: number
}

/** The pools that runs of the team may ask for: whether a runner is there, what of its slots is in use, what waits. */
export function PoolsCard({ team, pools, queued }: Props) {
  const { data: waiting } = useWaitingByPool(team, queued > 0)
  const waitingIn = (slug: string) => (queued === 0 ? 0 : waiting && (waiting.pools.get(slug) ?? 0))
  return (
    <Card title="Pools of runners">
      <Table
        caption="Pools of runners"
        rows={pools}
        keyOf={({ slug }) => slug}
        columns={[
          {
            name: 'Pool',
            isMain: true,
            cell: ({ slug, languages }) => (
              <>
                <code className={layout.wraps}>{slug}</code>{' '}
                <span className={layout.soft}>{languages.map((one) => languageNames[one]).join(', ')}</span>
              </>
            ),
          },
          {
            name: 'Slots in use',
            cell: ({ slug, slots, freeSlots }) =>
              slots === 0 ? (
                <Pill tone={waitingIn(slug) ? 'bad' : 'calm'} icon="stop">
                  No runner connected
                </Pill>
              ) : (
                <Progress
                  label={`Slots in use of ${slug}`}
                  value={slots - freeSlots}
                  max={slots}
                  tone={freeSlots === 0 ? 'warn' : undefined}
                  note={`${slots - freeSlots} of ${slots}`}
                />
              ),
          },
          {
            name: 'Waiting runs',
            align: 'end',
            cell: ({ slug }) => {
              const count = waitingIn(slug)
              if (count === undefined) return <span className={layout.soft}>–</span>
              if (count === 0) return '0'
              return (
                <Link to="/t/$team/executions" params={{ team }} search={{ status: 'QUEUED' }}>
                  {count}
                  {waiting?.areMore && '+'}
                </Link>
              )
            },
          },
        ]}
      />
    </Card>
  )
}
