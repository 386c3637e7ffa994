import type { ReactNode } from 'react'
import type { ChangedMeanwhile as Problem } from '../api/tagged.ts'
import { Button } from './button.tsx'
import layout from './layout.module.css'
import { Time } from './time.tsx'

interface Props {
  what: string
  problem: Pick<Problem, 'etag' | 'updatedBy' | 'updatedAt'> | undefined
  /** Saves again, over the record that has this tag now. */
  onOverwrite: (etag: string | undefined) => void
  /** Further ways on, such as a look at what the other has written. */
  children?: ReactNode
}

/** Says that somebody else was quicker, and lets the user decide. */
export function ChangedMeanwhile({ what, problem, onOverwrite, children }: Props) {
  if (problem === undefined) return null
  return (
    <div role="alert" className={layout.notice}>
      <p>
        <strong>Somebody has changed this {what} meanwhile</strong>
        {problem.updatedBy && <> ({problem.updatedBy})</>}
        {problem.updatedAt && (
          <>
            , <Time at={problem.updatedAt} />
          </>
        )}
        . Nothing is saved yet.
      </p>
      <div className={layout.row}>
        {children}
        <Button look="danger" onClick={() => onOverwrite(problem.etag)}>
          Save mine over it
        </Button>
      </div>
    </div>
  )
}
