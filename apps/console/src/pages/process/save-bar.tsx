import { changedMeanwhile } from '../../api/tagged.ts'
import { Button } from '../../parts/button.tsx'
import { Fault } from '../../parts/page-states.tsx'
import styles from './tab.module.css'

interface Props {
  isDirty: boolean
  isBusy: boolean
  /** The process was changed meanwhile: it is to be chosen first. */
  isBlocked: boolean
  error: Error | null
  onDrop: () => void
}

/** The end of a form over a process: what went wrong, save, drop. */
export function SaveBar({ isDirty, isBusy, isBlocked, error, onDrop }: Props) {
  return (
    <>
      {error !== null && changedMeanwhile(error) === undefined && <Fault error={error} />}
      <div className={styles.row}>
        <Button type="submit" look="primary" disabled={!isDirty || isBlocked} isBusy={isBusy}>
          Save
        </Button>
        {isDirty && <Button onClick={onDrop}>Drop changes</Button>}
      </div>
    </>
  )
}
