import type { Execution } from '../client/records.ts'
import { terminalStatuses } from '../client/records.ts'
import type { Book, Promised } from './book.ts'
import type { Entry } from './ledger.ts'
import { briefly } from './removals.ts'
import { illegalStep } from './transitions.ts'

/** A promise that was broken: which one, of which execution, and how. */
export interface Violation {
  rule: string
  id: string
  description: string
}

/** How long after its end a run's code may still be heard of, in milliseconds. */
export const graceMs = 5500

/** What is wrong with one execution at rest, compared with what its code did and what callers were told. */
export function faultsOf(execution: Execution, entry: Entry | undefined, promise: Promised | undefined): Violation[] {
  const statuses = execution.timeline.events.map(({ status }) => status)
  const starts = entry?.starts.size ?? 0
  const found: Violation[] = []
  const fault = (rule: string, description: string) => found.push({ rule, id: execution.id, description })

  const illegal = illegalStep(statuses)
  if (illegal) fault('I2 legal transitions only', `${illegal} in ${statuses.join(' → ')}`)
  if (statuses.filter((status) => terminalStatuses.includes(status)).length > 1)
    fault('I1 one terminal status', statuses.join(' → '))
  if (statuses.at(-1) !== execution.status)
    fault('I5 last event is the status', `${execution.status} after ${statuses.join(' → ')}`)
  if (starts > 1) fault('I3 code starts at most once', `it started ${starts} times`)
  if (starts > 0 && !statuses.includes('RUNNING'))
    fault('I3 code starts after RUNNING', `it started in ${statuses.join(' → ')}`)
  if (
    execution.status === 'FINISHED' &&
    !execution.processSlug.startsWith(briefly) &&
    (starts !== 1 || entry?.ends !== 1)
  )
    fault('I3 what finished ran once', `${starts} starts, ${entry?.ends ?? 0} ends`)
  if (!terminalStatuses.includes(execution.status)) fault('I6 nothing is left without an end', statuses.join(' → '))
  else if (entry && entry.lastSeenAt > Date.parse(execution.updatedAt) + graceMs)
    fault(
      'I7 no code runs after the end',
      `heard of ${entry.lastSeenAt - Date.parse(execution.updatedAt)} ms after ${execution.status}`,
    )
  if (execution.status === 'ERROR' && !execution.timeline.events.at(-1)?.explanation)
    fault('a reason', 'ERROR without a reason')
  if (promise?.status && promise.status !== execution.status)
    fault('what was answered holds', `${promise.by} said ${promise.status}, it is ${execution.status}`)
  if (promise?.returnValue !== undefined && promise.returnValue !== execution.returnValue)
    fault('what was answered holds', `${promise.by} gave ${promise.returnValue}, stored is ${execution.returnValue}`)
  return found
}

/** What is wrong between executions, promises and the ledger as a whole; `listed` must hold all of them. */
export function faultsBetween(
  listed: ReadonlyMap<string, Execution>,
  entries: ReadonlyMap<string, Entry>,
  book: Book,
): Violation[] {
  const found: Violation[] = []
  for (const { id, by } of book.promised.values())
    if (!listed.has(id))
      found.push({ rule: 'I4 what was acknowledged is there', id, description: `acknowledged by ${by}, not found` })
  for (const id of entries.keys())
    if (!listed.has(id)) found.push({ rule: 'I4 what ran is there', id, description: 'its code ran, it is not found' })
  const byComment = Map.groupBy(listed.values(), ({ comment }) => comment ?? '')
  for (const [comment, executions] of byComment)
    if (/^(key|nested) /.test(comment) && executions.length > 1)
      found.push({
        rule: 'one execution per key',
        id: executions[0]?.id ?? '',
        description: `${executions.length} for ${comment}`,
      })
  for (const [key, ids] of book.keys)
    if (ids.size > 1)
      found.push({
        rule: 'one execution per key',
        id: [...ids].join(),
        description: `${key} was answered ${ids.size} ids`,
      })
  for (const { id, status, processSlug } of listed.values())
    if (processSlug === 'parent' && status === 'FINISHED')
      for (const call of [1, 2])
        if (byComment.get(`nested ${id} ${call}`)?.length !== 1)
          found.push({ rule: 'a nested call starts one execution', id, description: `call ${call} left none` })
  return found
}

/** Executions that were seen terminal before and are different now. */
export function changedSince(book: Book, listed: ReadonlyMap<string, Execution>): Violation[] {
  const found: Violation[] = []
  for (const [id, before] of book.terminal) {
    const now = listed.get(id)
    if (now === undefined)
      found.push({ rule: 'I4 what was seen stays', id, description: `${before.status}, then not found` })
    else if (fingerprint(now) !== fingerprint(before))
      found.push({
        rule: 'I1 a terminal status never changes',
        id,
        description: `${fingerprint(before)} became ${fingerprint(now)}`,
      })
  }
  return found
}

function fingerprint({ status, returnValue, timeline, updatedAt }: Execution): string {
  return JSON.stringify([status, returnValue, updatedAt, timeline])
}
