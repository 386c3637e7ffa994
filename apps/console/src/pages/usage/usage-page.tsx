import { Link, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useProcessNames, useUsage, type UsageItem } from '../../api/queries/usage.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { Answer, Empty } from '../../parts/page-states.tsx'
import { Page } from '../../parts/page.tsx'
import { saveAs } from '../../parts/save-as.ts'
import { Table, type Column } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { TimeRange } from '../../parts/time-range.tsx'
import { duration, size } from '../../parts/time.tsx'
import { csvOf } from '../../rules/csv.ts'
import { useView } from '../../shell/view.ts'
import { UsageCharts } from './usage-charts.tsx'

/** What runs used, by day or by process. */
export function UsagePage() {
  const { team } = useParams({ from: '/t/$team/usage' })
  const view = useView()
  const by = view.get('by') === 'process' ? 'process' : 'day'
  const usage = useUsage(team, by, view.get('from'), view.get('to'))
  const { data: names } = useProcessNames(team)
  const items = useMemo(() => sorted(usage.data?.items ?? [], by), [usage.data, by])
  const nameOf = (key: string) => (by === 'day' ? key.slice(0, 10) : (names?.get(key)?.name ?? key))
  return (
    <Page
      title="Usage"
      call={{ path: '/usage', query: { by, from: view.get('from'), to: view.get('to') } }}
      actions={
        <Button
          disabled={items.length === 0}
          onClick={() => saveAs(`usage-${team}-by-${by}.csv`, csvFile(items, nameOf, by))}
        >
          <icons.download /> CSV
        </Button>
      }
      tabs={
        <Tabs label="By">
          {(['day', 'process'] as const).map((one) => (
            <Link
              key={one}
              to="."
              search={(before: Record<string, unknown>) => ({ ...before, by: one === 'day' ? undefined : one })}
              activeOptions={{ exact: true }}
              aria-current={one === by ? 'page' : undefined}
            >
              By {one}
            </Link>
          ))}
        </Tabs>
      }
    >
      <div className={layout.row}>
        <TimeRange />
        {usage.data && (
          <span className={layout.soft}>
            {dayOf(usage.data.from)} to {dayOf(usage.data.to)}, trials among them
          </span>
        )}
      </div>
      <Answer of={usage} what="usage">
        {({ from, to }) =>
          items.length === 0 ? (
            <Empty title="Nothing ran in this time">Take a longer time, or run a process.</Empty>
          ) : (
            <div className={layout.stack}>
              {by === 'day' && <UsageCharts items={items} from={from} to={to} />}
              <Table
                caption={`Usage by ${by}`}
                rows={by === 'day' ? items.toReversed() : items}
                keyOf={({ key }) => key}
                columns={columnsOf(by, (key) =>
                  by === 'day' || !names?.has(key) ? (
                    nameOf(key)
                  ) : (
                    <Link to="/t/$team/processes/$slug/edit" params={{ team, slug: names.get(key)?.slug ?? key }}>
                      {nameOf(key)}
                    </Link>
                  ),
                )}
              />
            </div>
          )
        }
      </Answer>
    </Page>
  )
}

const dayOf = (at: string) => new Date(at).toLocaleDateString('en-GB', { dateStyle: 'medium' })

const sorted = (items: UsageItem[], by: 'process' | 'day') =>
  by === 'day'
    ? items.toSorted((a, b) => a.key.localeCompare(b.key))
    : items.toSorted((a, b) => b.runSeconds - a.runSeconds)

const seconds = (value: number) => duration(value * 1000)

function columnsOf(by: 'process' | 'day', nameOf: (key: string) => React.ReactNode): Column<UsageItem>[] {
  return [
    { name: by === 'day' ? 'Day (UTC)' : 'Process', isMain: by === 'process', cell: ({ key }) => nameOf(key) },
    { name: 'Runs', align: 'end', cell: ({ runs }) => runs.toLocaleString('en') },
    { name: 'Run time', align: 'end', cell: ({ runSeconds }) => seconds(runSeconds) },
    { name: 'CPU time', align: 'end', cell: ({ cpuSeconds }) => seconds(cpuSeconds) },
    {
      name: 'Memory',
      align: 'end',
      cell: ({ memoryMbSeconds: used }) => `${Math.round(used / 3600).toLocaleString('en')} MiB h`,
    },
    { name: 'Logs', align: 'end', cell: ({ logBytes }) => size(logBytes) },
    { name: 'Stored', align: 'end', cell: ({ storedBytes }) => (storedBytes === undefined ? '–' : size(storedBytes)) },
  ]
}

function csvFile(items: readonly UsageItem[], nameOf: (key: string) => string, by: string): Blob {
  const header = ['key', by, 'runs', 'runSeconds', 'cpuSeconds', 'memoryMbSeconds', 'logBytes', 'storedBytes']
  const rows = items.map((one) => [
    one.key,
    nameOf(one.key),
    one.runs,
    one.runSeconds,
    one.cpuSeconds,
    one.memoryMbSeconds,
    one.logBytes,
    one.storedBytes,
  ])
  return new Blob([csvOf(header, rows)], { type: 'text/csv' })
}
