import { ownContext, type CallContext, type Principal } from '@automation/rpc'
import { failPoint } from '@automation/service'
import type { Catalog } from './catalog.ts'
import { authorOf } from './rpc/author.ts'
import { buryProcess, removeRemains, tombstonesOlderThan, type Tombstone } from './store/tombstones.ts'

const timeoutMs = 30_000

/**
 * Deletes a process for good: it is gone when the tombstone is written, then its executions are killed and hidden, then
 * what is left of its rows goes. Cut off in between, it is finished by `resumeDeletions`.
 */
export async function deleteProcess(catalog: Catalog, identifier: string, caller: CallContext) {
  const tombstone = await buryProcess(catalog.store, authorOf(caller), identifier)
  failPoint('delete-after-tombstone')
  const { requestId, traceparent } = caller
  await finishDeletion(catalog, tombstone, {
    ...ownContext(catalogOf(tombstone.team), timeoutMs),
    requestId,
    traceparent,
  })
}

/** Finishes the deletions that were cut off; each step may be done twice. Fails with the first failure, after trying all. */
export async function resumeDeletions(catalog: Catalog): Promise<void> {
  const tombstones = await tombstonesOlderThan(catalog.store, catalog.config.upkeep.deletionsAfterS)
  const finished = await Promise.allSettled(
    tombstones.map((tombstone) => finishDeletion(catalog, tombstone, ownContext(catalogOf(tombstone.team), timeoutMs))),
  )
  const failed = finished.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function finishDeletion({ executions, store }: Catalog, { team, processId }: Tombstone, context: CallContext) {
  await executions.deleteProcessExecutions({ team, processId }, context)
  failPoint('delete-after-executions')
  await removeRemains(store, processId)
}

function catalogOf(team: string): Principal {
  return { role: 'service', team, subject: 'process-catalog', name: 'process-catalog' }
}
