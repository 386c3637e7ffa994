import type { Process } from '../../api/queries/processes.ts'
import { Button } from '../../parts/button.tsx'
import { icons } from '../../parts/icons.tsx'
import { Time } from '../../parts/time.tsx'
import type { DraftState } from './use-draft.ts'
import styles from './tab.module.css'

interface Props<Values> {
  process: Process
  draft: Pick<DraftState<Values>, 'theirs' | 'changes' | 'takeTheirs' | 'keepMine'>
  /** What the fields are called on the page. */
  names: Record<keyof Values, string>
}

/** Says that somebody else has changed the process under the form, and lets the person choose. */
export function ChangedMeanwhile<Values>({ process, draft, names }: Props<Values>) {
  if (draft.theirs === undefined) return null
  const theirs = draft.theirs.map((name) => names[name])
  const clashing = draft.theirs.filter((name) => name in draft.changes).map((name) => names[name])
  return (
    <div role="alert" className={styles.notice}>
      <icons.warning />
      <div>
        <p>
          <strong>{process.updatedBy}</strong> changed this process <Time at={process.updatedAt} />, after you began.
        </p>
        <p>
          {theirs.length === 0
            ? 'Nothing of this form was changed by that.'
            : `Changed by that in this form: ${theirs.join(', ')}.`}
          {clashing.length > 0 && ` You have changed ${clashing.join(', ')}, too.`}
        </p>
        <p className={styles.row}>
          <Button onClick={draft.keepMine}>Keep mine, to save over it</Button>
          <Button onClick={draft.takeTheirs}>Take theirs, and drop what I typed</Button>
        </p>
      </div>
    </div>
  )
}
