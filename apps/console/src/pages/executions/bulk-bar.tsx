import { Link } from '@tanstack/react-router'
import type { Execution } from '../../api/queries/executions.ts'
import { Button } from '../../parts/button.tsx'
import { isEnd } from '../../rules/executions.ts'
import styles from './executions.module.css'

interface Props {
  team: string
  rows: readonly Execution[]
  selected: ReadonlySet<string>
  setSelected: (selected: ReadonlySet<string>) => void
  onAsk: (what: 'kill' | 'rerun') => unknown
}

/** What can be done with the executions that are selected. */
export function BulkBar({ team, rows, selected, setSelected, onAsk }: Props) {
  const meant = rows.filter(({ id }) => selected.has(id))
  if (meant.length === 0) return null
  const running = meant.filter(({ status }) => !isEnd(status)).length
  const [a, b] = meant.toReversed()
  return (
    <div className={styles.bulk} role="toolbar" aria-label="The selected executions">
      <strong>{meant.length} selected</strong>
      <Button onClick={() => onAsk('rerun')}>Rerun {meant.length}</Button>
      <Button look="danger" disabled={running === 0} onClick={() => onAsk('kill')}>
        Kill {running}
      </Button>
      {meant.length === 2 && a !== undefined && b !== undefined && (
        <Link className={styles.link} to="/t/$team/executions/compare" params={{ team }} search={{ a: a.id, b: b.id }}>
          Compare
        </Link>
      )}
      <Button look="quiet" onClick={() => setSelected(new Set(rows.map(({ id }) => id)))}>
        Select all {rows.length}
      </Button>
      <Button look="quiet" onClick={() => setSelected(new Set())}>
        Select none
      </Button>
    </div>
  )
}
