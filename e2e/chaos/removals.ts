import type { Client } from '../client/client.ts'
import { waitUntil } from '../system/wait-until.ts'
import type { Violation } from './invariants.ts'

/** A process that was made, run and deleted again. */
export interface Removal {
  processId: string
  executionId: string | undefined
  /** Whether the deletion was answered with 200: then all of it is gone, else it may be there still, or half. */
  answered: boolean
}

/** Prefix of the slugs of processes that are made to be deleted. */
export const briefly = 'brief-'

/** What a deletion that was answered left behind. */
export async function faultsOfRemovals(client: Client, removals: readonly Removal[]): Promise<Violation[]> {
  const found: Violation[] = []
  for (const { processId, executionId, answered } of removals) {
    if (!answered) continue
    if (await exists(client, `/processes/${processId}`)) found.push(left(processId, 'the process is there'))
    if (executionId && (await exists(client, `/executions/${executionId}`)))
      found.push(left(processId, `${executionId} is there`))
  }
  return found
}

/** Deletions that were cut off: once the process is gone, its execution goes as well, within `withinMs`. */
export async function faultsOfCutRemovals(
  client: Client,
  removals: readonly Removal[],
  withinMs: number,
): Promise<Violation[]> {
  const found: Violation[] = []
  const cut = removals.filter(({ answered }) => !answered)
  const halves = await Promise.all(
    cut.map(async (one) => ((await exists(client, `/processes/${one.processId}`)) ? undefined : one)),
  )
  for (const half of halves) {
    const { processId, executionId } = half ?? {}
    if (!processId || !executionId) continue
    const gone = async () => !(await exists(client, `/executions/${executionId}`))
    const inTime = await waitUntil('the execution to go', gone, { timeoutMs: withinMs, everyMs: 500 }).catch(
      () => false,
    )
    if (!inTime) found.push(left(processId, `it is gone, ${executionId} is there`))
  }
  return found
}

async function exists(client: Client, path: string): Promise<boolean> {
  const { status } = await client.get(path)
  if (status !== 200 && status !== 404) throw new Error(`${path} answered ${status}`)
  return status === 200
}

const left = (id: string, description: string): Violation => ({
  rule: 'a deleted process takes all with it',
  id,
  description,
})
