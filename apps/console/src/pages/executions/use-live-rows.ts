import { useQueryClient, type InfiniteData } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import { executionKeys, type Execution, type ExecutionFilters } from '../../api/queries/executions.ts'
import { useExecutionEvents } from '../../live/use-team-stream.ts'
import { cutPage, fits, withRow } from '../../rules/execution-filters.ts'

type List = InfiniteData<Schemas['ExecutionsPaginatedResult']>

/** So far from its top a list is being read: what is new waits to be asked for. */
const TOP_PX = 120

/** So many rows the first page keeps, and so many new ones wait; a tab may stay open for days. */
const MOST_ROWS = 300
export const MOST_WAITING = 500

/**
 * Puts executions that are new into the list while its top is seen; while it is read further down, or rows are selected,
 * they are counted instead, so that nothing moves. `show` brings those in.
 */
export function useLiveRows(team: string, filters: ExecutionFilters, isHeld: boolean) {
  const queries = useQueryClient()
  const [waiting, setWaiting] = useState<readonly Execution[]>([])
  const [waitedFor, setWaitedFor] = useState(filters)
  if (waitedFor !== filters) {
    setWaitedFor(filters)
    setWaiting([])
  }
  const insert = useCallback(
    (rows: readonly Execution[]) =>
      queries.setQueryData<List>(executionKeys.list(team, filters), (list) => {
        const [first, ...others] = list?.pages ?? []
        if (list === undefined || first === undefined) return list
        const known = new Set(others.flatMap(({ data }) => data.map(({ id }) => id)))
        const data = rows.filter(({ id }) => !known.has(id)).reduce<readonly Execution[]>(withRow, first.data)
        const page = { ...first, data: [...data] }
        if (data.length <= MOST_ROWS) return { ...list, pages: [page, ...others] }
        // Further pages would leave a gap after a first one that is cut; they are read again from its end.
        return { pages: [cutPage(page, MOST_ROWS)], pageParams: list.pageParams.slice(0, 1) }
      }),
    [queries, team, filters],
  )
  useExecutionEvents(
    useCallback(
      (execution) => {
        if (!fits(filters, execution)) return setWaiting((before) => before.filter(({ id }) => id !== execution.id))
        const list = queries.getQueryData<List>(executionKeys.list(team, filters))
        const rows = list?.pages.flatMap(({ data }) => data) ?? []
        const last = rows.at(-1)
        const isFurtherDown = list?.pages.at(-1)?.hasNextPage === true && last !== undefined && execution.id < last.id
        if (list === undefined || isFurtherDown || rows.some(({ id }) => id === execution.id)) return
        if (isHeld || window.scrollY > TOP_PX)
          setWaiting((before) => (before.length < MOST_WAITING ? withRow(before, execution) : before))
        else insert([execution])
      },
      [queries, team, filters, isHeld, insert],
    ),
  )
  /** More are new than were kept: the list begins again with its first page. */
  const readAgain = () => {
    const queryKey = executionKeys.list(team, filters)
    queries.setQueryData<List>(
      queryKey,
      (list) => list && { pages: list.pages.slice(0, 1), pageParams: list.pageParams.slice(0, 1) },
    )
    void queries.invalidateQueries({ queryKey, exact: true })
  }
  const show = () => {
    if (waiting.length < MOST_WAITING) insert(waiting)
    else readAgain()
    setWaiting([])
    window.scrollTo({ top: 0 })
  }
  return { waiting: waiting.length, show }
}
