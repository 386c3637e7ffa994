import type { ExecutionFilters, Execution } from '../api/queries/executions.ts'

/** What stands behind the `?` of the list of executions. */
export interface ExecutionsSearch {
  status?: string
  process?: string
  version?: string
  schedule?: string
  origin?: string
  trial?: 'true' | 'false'
  from?: string
  to?: string
  q?: string
  name?: string
}

export const STATUSES = [
  'CREATED',
  'QUEUED',
  'DEQUEUED',
  'RUNNING',
  'FINISHED',
  'ERROR',
  'KILLED',
  'REJECTED',
] as const satisfies readonly Execution['status'][]

export const ORIGINS = [
  'rest',
  'webhook',
  'schedule',
  'process',
  'errorHandler',
  'rerun',
  'form',
] as const satisfies readonly NonNullable<Execution['origin']>[]

export const TRIALS = ['true', 'false'] as const

/** The words of a list in an address that are known. */
export function wordsOf<Word extends string>(text: string | undefined, known: readonly Word[]): Word[] {
  const words = new Set(text?.split(','))
  return known.filter((word) => words.has(word))
}

const textOf = (value: unknown): string | undefined =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) || undefined : undefined

/** An instant as the service takes it; undefined where the text is none. */
function instant(text: string | undefined): string | undefined {
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

/** What an address means, whatever somebody has written into it. */
export function readSearch(search: Readonly<Record<string, unknown>>): ExecutionsSearch {
  return {
    status: wordsOf(textOf(search['status']), STATUSES).join(',') || undefined,
    process: textOf(search['process']),
    version: textOf(search['version']),
    schedule: textOf(search['schedule']),
    origin: wordsOf(textOf(search['origin']), ORIGINS).join(',') || undefined,
    trial: TRIALS.find((word) => word === textOf(search['trial'])),
    from: instant(textOf(search['from'])),
    to: instant(textOf(search['to'])),
    q: textOf(search['q']),
    name: textOf(search['name']),
  }
}

/** The filters of the service for an address; `processId` is that of the process which the address names. */
export function filtersOf(search: ExecutionsSearch, processId: string | undefined): ExecutionFilters {
  const status = wordsOf(search.status, STATUSES)
  const origin = wordsOf(search.origin, ORIGINS)
  return {
    ...(status.length > 0 && { status }),
    ...(origin.length > 0 && { origin }),
    ...(processId !== undefined && { processId }),
    ...(search.version !== undefined && { versionId: search.version }),
    ...(search.schedule !== undefined && { scheduledId: search.schedule }),
    ...(search.trial !== undefined && { trial: search.trial === 'true' }),
    ...(search.from !== undefined && { from: search.from }),
    ...(search.to !== undefined && { to: search.to }),
    ...(search.q !== undefined && { q: search.q }),
    ...(search.name !== undefined && { keywords: search.name }),
  }
}

/** Whether an execution that is told live belongs into a list with these filters. */
export function fits(filters: ExecutionFilters, execution: Execution): boolean {
  const { status, origin, processId, versionId, scheduledId, trial, from, to, q, keywords } = filters
  if (status !== undefined && !status.includes(execution.status)) return false
  if (origin !== undefined && (execution.origin === undefined || !origin.includes(execution.origin))) return false
  if (processId !== undefined && execution.processId !== processId) return false
  if (versionId !== undefined && execution.versionId !== versionId) return false
  if (scheduledId !== undefined && execution.scheduledId !== scheduledId) return false
  if (trial !== undefined && execution.trial !== trial) return false
  const createdAt = Date.parse(execution.createdAt)
  if (from !== undefined && createdAt < Date.parse(from)) return false
  if (to !== undefined && createdAt >= Date.parse(to)) return false
  const has = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase())
  if (keywords !== undefined && !has(`${execution.processName}\n${execution.comment ?? ''}`, keywords)) return false
  if (q === undefined) return true
  const { parameters, returnValue, timeline } = execution
  const searched = `${JSON.stringify(parameters ?? {})}\n${returnValue ?? ''}\n${timeline.explanation ?? ''}`
  return q.split(/\s+/).every((word) => has(searched, word))
}

/** A page of a list that is cut to its newest rows, to be read on from its last one. */
export function cutPage<Page extends { data: { id: string }[]; hasNextPage: boolean; after?: string }>(
  page: Page,
  most: number,
): Page {
  const data = page.data.slice(0, most)
  return { ...page, data, hasNextPage: true, after: data.at(-1)?.id }
}

/** A list, newest first, with one more at its place; the list itself where it has it already. */
export function withRow<Row extends { id: string }>(rows: readonly Row[], row: Row): readonly Row[] {
  if (rows.some(({ id }) => id === row.id)) return rows
  // Ids are made of the time of creation.
  const at = rows.findIndex(({ id }) => id < row.id)
  return at < 0 ? [...rows, row] : [...rows.slice(0, at), row, ...rows.slice(at)]
}
