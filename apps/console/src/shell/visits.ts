import { useEffect } from 'react'
import { withRecent } from '../rules/recent.ts'
import { keepList, keptList } from '../session/kept-here.ts'

/** A page that was open, for the palette. */
export interface Visit {
  team: string
  kind: 'execution' | 'process'
  /** An execution's id or a process' slug. */
  id: string
  name: string
}

const MOST = 12

export const recentVisits = (): Visit[] => keptList<Visit>('visits')

/** Notes that a page is open, so that the palette can lead back to it. */
export function useVisit({ team, kind, id, name }: Visit): void {
  useEffect(() => {
    const visit = { team, kind, id, name }
    keepList(
      'visits',
      withRecent(recentVisits(), visit, MOST, (one) => `${one.kind} ${one.id}`),
    )
  }, [team, kind, id, name])
}
