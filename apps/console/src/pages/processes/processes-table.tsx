import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useStatistics } from '../../api/queries/executions.ts'
import { useProcessList, type ProcessFilters, type ProcessSummary } from '../../api/queries/processes.ts'
import { SparkBars } from '../../parts/spark-bars.tsx'
import { Status } from '../../parts/status.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { duration, Time, useNow } from '../../parts/time.tsx'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { failedIn, HOUR_MS, lastDay } from '../../rules/last-day.ts'
import { languageNames } from '../../rules/languages.ts'
import styles from './processes.module.css'

interface Props {
  team: string
  rows: readonly ProcessSummary[]
  filters: ProcessFilters
  onTag: (tag: string) => void
}

/** Processes with what became of them in the last day. */
export function ProcessesTable({ team, rows, filters, onTag }: Props) {
  const records = useProcessList(team, filters)
  const byId = useMemo(() => new Map(records.data?.data.map((record) => [record.id, record])), [records.data])
  const hour = Math.floor(useNow() / HOUR_MS) * HOUR_MS
  const { from, to } = lastDay(hour)
  const statistics = useStatistics(team, { from, to, bucket: 'hour', by: 'process' })
  const bars = useMemo(
    () =>
      new Map(
        statistics.data?.series.map(({ key, points }) => [
          key,
          points.map((point) => ({ good: point.finished, bad: failedIn(point) })),
        ]),
      ),
    [statistics.data],
  )
  const navigate = useNavigate()
  const chosen = useRowKeys(
    rows.map(({ id }) => id),
    (id) => {
      const slug = rows.find((row) => row.id === id)?.slug
      if (slug !== undefined) void navigate({ to: '/t/$team/processes/$slug/edit', params: { team, slug } })
    },
  )
  const columns: Column<ProcessSummary>[] = [
    {
      name: 'Process',
      isMain: true,
      cell: ({ id, name, slug }) => {
        const record = byId.get(id)
        return (
          <span id={`row-${id}`} className={styles.process}>
            <Link to="/t/$team/processes/$slug/edit" params={{ team, slug }} className={styles.name}>
              {name}
            </Link>
            {name !== slug && <code className={styles.soft}>{slug}</code>}
            {record && <span className={styles.soft}>{languageNames[record.programmingLanguage]}</span>}
            {record?.tags?.map((tag) => (
              <button
                key={tag}
                type="button"
                className={styles.tag}
                title={`Filter by ${tag}`}
                onClick={() => onTag(tag)}
              >
                {tag}
              </button>
            ))}
          </span>
        )
      },
    },
    { name: 'Last execution', cell: ({ lastExecution }) => <Last team={team} of={lastExecution} /> },
    {
      name: '24 hours',
      cell: ({ id, slug, last24h: { runs, failed } }) => (
        <span className={styles.day}>
          {runs + failed > 0 && <SparkBars of={bars.get(id) ?? []} />}
          <span>
            {runs === 0 ? (
              <span className={styles.soft}>no runs</span>
            ) : (
              `${runs.toLocaleString('en')} ${runs === 1 ? 'run' : 'runs'}`
            )}
            {failed > 0 && (
              <>
                {', '}
                <Link
                  to="/t/$team/executions"
                  params={{ team }}
                  search={{ process: slug, status: 'ERROR,KILLED,REJECTED', trial: 'false', from }}
                  className={styles.failed}
                >
                  {failed.toLocaleString('en')} failed
                </Link>
              </>
            )}
          </span>
        </span>
      ),
    },
    {
      name: 'p95',
      align: 'end',
      cell: ({ last24h: { p95Ms } }) => (p95Ms === undefined ? '–' : duration(p95Ms)),
    },
    { name: 'Next firing', cell: ({ nextFiringAt }) => <Time at={nextFiringAt} /> },
  ]
  return <Table caption="Processes" columns={columns} rows={rows} keyOf={({ id }) => id} chosen={chosen} />
}

function Last({ team, of: last }: { team: string; of: ProcessSummary['lastExecution'] }) {
  if (last === undefined) return <span className={styles.soft}>never ran</span>
  return (
    <span className={styles.last}>
      <Link to="/t/$team/executions/$executionId" params={{ team, executionId: last.id }} preload={false}>
        <Status of={last.status} />
      </Link>
      <span className={styles.soft}>
        <Time at={last.createdAt} />
      </span>
    </span>
  )
}
