import { useLimits } from '../../api/queries/team.ts'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { Card } from '../../parts/page.tsx'
import { Progress } from '../../parts/progress.tsx'
import { Table } from '../../parts/table.tsx'
import { size } from '../../parts/time.tsx'
import { PoolsCard } from './pools-card.tsx'

/** What the team may have, with what is in use, and the pools of runners that serve it. */
export function LimitsCard({ team }: { team: string }) {
  const limits = useLimits(team)
  return (
    <Answer of={limits} what="limits">
      {({ limits: all, agentPools }) => (
        <div className={layout.stack}>
          <Card title="Limits">
            <Table
              caption="Limits"
              rows={all}
              keyOf={({ name }) => name}
              columns={[
                { name: 'Limit', cell: ({ name }) => wordsOf(name) },
                {
                  name: 'In use',
                  cell: ({ name, allowed, inUse }) =>
                    inUse === undefined ? (
                      <span className={layout.soft}>–</span>
                    ) : (
                      <Progress
                        label={wordsOf(name)}
                        value={inUse}
                        max={allowed}
                        tone={inUse >= allowed ? 'bad' : inUse > allowed * 0.8 ? 'warn' : undefined}
                        note={amount(name, inUse)}
                      />
                    ),
                },
                { name: 'Allowed', align: 'end', cell: ({ name, allowed }) => amount(name, allowed) },
              ]}
            />
            <p className={layout.soft}>
              An operator sets them by <code className={layout.wraps}>npm run admin -- teams limit</code>.
            </p>
          </Card>
          <PoolsCard team={team} pools={agentPools} queued={all.find(({ name }) => name === 'queued')?.inUse ?? 0} />
        </div>
      )}
    </Answer>
  )
}

/** `runningExecutions` and `running_executions` as `Running executions`. */
function wordsOf(name: string): string {
  const words = name
    .replaceAll(/[_-]/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const amount = (name: string, value: number) =>
  name === 'stored' || /bytes/i.test(name) ? size(value) : value.toLocaleString('en')
