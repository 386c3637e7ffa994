import type { Schemas } from '../api/client.ts'

type Execution = Schemas['Execution']

const ENDS: ReadonlySet<string> = new Set(['FINISHED', 'ERROR', 'KILLED', 'REJECTED'])

/** Whether a status is final. */
export const isEnd = (status: string): boolean => ENDS.has(status)

/** Whether an execution with it can wait for something. */
export const mayWait = (status: string): boolean => status === 'CREATED' || status === 'QUEUED'

/**
 * What is known of an execution after news in the form of lists, which leaves out what is large. News that comes late or
 * again changes nothing.
 */
export function withNews(known: Execution, news: Execution): Execution {
  if (news.timeline.events.length < known.timeline.events.length) return known
  const merged = { ...known, ...news }
  merged.parameters = known.parameters ?? news.parameters
  merged.returnValue = news.returnValue ?? known.returnValue
  if (news.error !== undefined && known.error !== undefined) merged.error = known.error
  return merged
}

/** How long an execution has run, so far where it still does; undefined where it never ran. */
export function ranMs({ startedAt, endedAt }: Pick<Execution, 'startedAt' | 'endedAt'>, nowMs: number) {
  if (startedAt === undefined) return undefined
  return Math.max(0, (endedAt === undefined ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt))
}

const origins: Record<NonNullable<Execution['origin']>, string> = {
  rest: 'a call',
  webhook: 'its webhook',
  schedule: 'a schedule',
  process: 'another process',
  errorHandler: 'an error that it handles',
  rerun: 'a rerun',
  form: 'its form',
}

/** What has started an execution, in words. */
export const originWord = ({ origin, trial }: Pick<Execution, 'origin' | 'trial'>): string =>
  `${origin === undefined ? 'unknown' : origins[origin]}${trial ? ', as a trial of a draft' : ''}`
