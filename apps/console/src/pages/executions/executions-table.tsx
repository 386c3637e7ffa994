import { Link } from '@tanstack/react-router'
import type { Execution } from '../../api/queries/executions.ts'
import { icons } from '../../parts/icons.tsx'
import { Status } from '../../parts/status.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { duration, Time, useNow } from '../../parts/time.tsx'
import { originWord, ranMs } from '../../rules/executions.ts'
import styles from './executions.module.css'

interface Props {
  team: string
  rows: readonly Execution[]
  selected: ReadonlySet<string>
  chosenId: string | undefined
  onTurn: ((id: string) => void) | undefined
}

export function ExecutionsTable({ team, rows, selected, chosenId, onTurn }: Props) {
  const now = useNow()
  const select: Column<Execution>[] =
    onTurn === undefined
      ? []
      : [
          {
            name: 'Select',
            cell: ({ id, processName }) => (
              <input
                type="checkbox"
                className={styles.check}
                aria-label={`Select ${processName} ${id.slice(-6)}`}
                checked={selected.has(id)}
                onChange={() => onTurn(id)}
              />
            ),
          },
        ]
  const columns: Column<Execution>[] = [
    ...select,
    {
      name: 'Status',
      cell: ({ status, id }) => (
        <span id={`row-${id}`} className={styles.status}>
          <Status of={status} />
        </span>
      ),
    },
    {
      name: 'Process',
      isMain: true,
      cell: (row) => (
        <>
          <Link
            to="/t/$team/executions/$executionId"
            params={{ team, executionId: row.id }}
            className={styles.name}
            preload={false}
          >
            {row.processName}
          </Link>{' '}
          <span className={styles.summary}>{summary(row)}</span>
        </>
      ),
    },
    {
      name: 'Started by',
      cell: (row) => (
        <span className={styles.soft}>
          {originWord({ ...row, trial: false })}
          {row.trial && (
            <span title="A run of a draft">
              {' '}
              <icons.code size={13} /> trial
            </span>
          )}
        </span>
      ),
    },
    { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      name: 'Ran for',
      align: 'end',
      cell: (row) => {
        const ran = ranMs(row, now)
        return ran === undefined ? '–' : duration(ran)
      },
    },
  ]
  return (
    <Table
      caption="Executions, newest first"
      className={styles.rows}
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      chosen={chosenId}
    />
  )
}

/** What tells a row from its neighbours: its error, its comment, or its parameters. */
function summary({ error, timeline, comment, parameters }: Execution): string {
  const text =
    error !== undefined
      ? `${error.name}: ${error.message}`
      : [comment ?? '', timeline.explanation ?? '', parameters === undefined ? '' : JSON.stringify(parameters)]
          .filter((part) => part !== '' && part !== '{}')
          .join(' · ')
  return text.length > 140 ? `${text.slice(0, 140)}…` : text
}
