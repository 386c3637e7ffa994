import { asFailure, type Failure } from '@automation/errors'
import { asService, memberIn, ownContext, type CallContext } from '@automation/rpc'
import { failPoint } from '@automation/service'
import type { Catalog } from './catalog.ts'
import { buryProcess, markHidden, removeRemains, tombstonesOlderThan, type Tombstone } from './store/tombstones.ts'

const timeoutMs = 30_000
const schedulerTimeoutMs = 2000

type Told = Pick<CallContext, 'requestId' | 'traceparent'>

/**
 * Deletes a process for good: it is gone when the tombstone is written, then its schedules go, its executions are killed
 * and hidden, and what is left of its rows goes. Cut off in between, it is finished by `resumeDeletions`; so it is, too,
 * where the scheduler is away, which nobody waits for: its schedules start nothing any more.
 */
export async function deleteProcess(catalog: Catalog, identifier: string, caller: CallContext) {
  const tombstone = await buryProcess(catalog.store, memberIn(caller), identifier)
  failPoint('delete-after-tombstone')
  const { requestId, traceparent } = caller
  const left = await finishDeletion(catalog, tombstone, { requestId, traceparent })
  if (left !== undefined) catalog.logger.warn({ err: left, ...tombstone }, 'schedules of a deleted process go later')
}

/** Finishes the deletions that were cut off; each step may be done twice. Fails with the first failure, after trying all. */
export async function resumeDeletions(catalog: Catalog): Promise<void> {
  const tombstones = await tombstonesOlderThan(catalog.store, catalog.config.upkeep.deletionsAfterS)
  const finished = await Promise.allSettled(tombstones.map((tombstone) => finishDeletion(catalog, tombstone)))
  for (const result of finished) {
    if (result.status === 'rejected') throw result.reason
    if (result.value !== undefined) throw result.value
  }
}

/** Gives why the schedules are still to go, where they are. */
async function finishDeletion(catalog: Catalog, tombstone: Tombstone, told?: Told): Promise<Failure | undefined> {
  const { executions, store } = catalog
  const { team, processId, hidden } = tombstone
  const left = await deleteSchedules(catalog, tombstone, told)
  failPoint('delete-after-schedules')
  if (!hidden)
    await executions.deleteProcessExecutions(
      { team, processId },
      { ...ownContext(asService('process-catalog', team), timeoutMs), ...told },
    )
  failPoint('delete-after-executions')
  if (left === undefined) await removeRemains(store, processId)
  else if (!hidden) await markHidden(store, processId)
  return left
}

async function deleteSchedules({ schedules }: Catalog, { team, processId }: Tombstone, told?: Told) {
  try {
    const call = { ...ownContext(asService('process-catalog', team), schedulerTimeoutMs), ...told }
    await schedules.deleteProcessSchedules({ team, processId }, call)
    return undefined
  } catch (error) {
    return asFailure(error)
  }
}
