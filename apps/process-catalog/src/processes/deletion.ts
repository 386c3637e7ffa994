import type { ExecutionService } from '@automation/contract/execution/v1/execution'
import { asFailure, unavailable, type Failure } from '@automation/errors'
import { asService, memberIn, ownContext, type CallContext, type Client } from '@automation/rpc'
import { failPoint } from '@automation/service'
import { timestampMs } from '@bufbuild/protobuf/wkt'
import type { Catalog } from '../catalog.ts'
import { findAliasName, removeAlias } from '../store/aliases.ts'
import { forgetDrafts } from '../store/drafts.ts'
import type { OwnerName } from '../store/owners.ts'
import type { Use } from '../store/process-uses.ts'
import type { Store } from '../store/store.ts'
import {
  buryProcess,
  buryUnusedProcess,
  markHidden,
  removeRemains,
  tombstonesAtOnce,
  tombstonesOlderThan,
  type OldTombstone,
  type Tombstone,
} from '../store/tombstones.ts'
import { forgetUnneeded } from '../store/unneeded.ts'
import { findVersionName, removeVersion } from '../store/versions.ts'
import { nobody, type Users } from '../store/in-use.ts'

const timeoutMs = 30_000
const schedulerTimeoutMs = 2000

type Origin = Pick<CallContext, 'requestId' | 'traceparent'>

/**
 * Deletes a process for good: it is gone when the tombstone is written, then its schedules go, its executions are killed
 * and hidden, and what is left of its rows goes. Cut off in between, it is finished by `CutOffDeletions`; so it is, too,
 * where the scheduler is away, which nobody waits for: its schedules start nothing any more.
 */
export async function deleteProcess(catalog: Catalog, identifier: string, ifMatch: string[], caller: CallContext) {
  await finishFor(catalog, await buryProcess(catalog.store, memberIn(caller), identifier, ifMatch), caller)
}

/** Ends a use; the same for its process of code, where nobody else uses that. */
export async function deleteUnusedProcess(catalog: Catalog, use: Use, caller: CallContext): Promise<void> {
  const tombstone = await buryUnusedProcess(catalog.store, memberIn(caller), use)
  if (tombstone !== undefined) await finishFor(catalog, tombstone, caller)
}

async function finishFor(catalog: Catalog, tombstone: Tombstone, caller: CallContext): Promise<void> {
  failPoint('delete-after-tombstone')
  const { requestId, traceparent } = caller
  const left = await finishDeletion(catalog, tombstone, { requestId, traceparent })
  if (left !== undefined) catalog.logger.warn({ err: left, ...tombstone }, 'schedules of a deleted process go later')
}

/** Deletions that were cut off; each step may be done twice. */
export class CutOffDeletions {
  readonly #catalog: Catalog
  /** Behind which the next look goes on, where one was too little for all: those of a cell that is away hold up no others. */
  #after: OldTombstone | undefined

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /** Finishes some. Fails with the first failure, after trying all. */
  async resume(): Promise<void> {
    const { store, config } = this.#catalog
    const tombstones = await tombstonesOlderThan(store, config.upkeep.deletionsAfterS, this.#after)
    this.#after = tombstones.length === tombstonesAtOnce ? tombstones.at(-1) : undefined
    const finished = await Promise.allSettled(tombstones.map((tombstone) => finishDeletion(this.#catalog, tombstone)))
    for (const result of finished) {
      if (result.status === 'rejected') throw result.reason
      if (result.value !== undefined) throw result.value
    }
  }
}

/** Gives why the schedules are still to go, where they are. */
async function finishDeletion(catalog: Catalog, tombstone: Tombstone, origin?: Origin): Promise<Failure | undefined> {
  const { executions, store } = catalog
  const { team, processId, hidden } = tombstone
  const left = await deleteSchedules(catalog, tombstone, origin)
  failPoint('delete-after-schedules')
  if (!hidden)
    await executions.deleteProcessExecutions(
      { team, processId },
      { ...ownContext(asService('process-catalog', team), timeoutMs), ...origin },
    )
  failPoint('delete-after-executions')
  if (left === undefined) await removeRemains(store, team, processId)
  else if (!hidden) await markHidden(store, processId)
  return left
}

async function deleteSchedules({ schedules }: Catalog, { team, processId }: Tombstone, origin?: Origin) {
  try {
    const call = { ...ownContext(asService('process-catalog', team), schedulerTimeoutMs), ...origin }
    await schedules.deleteProcessSchedules({ team, processId }, call)
    return undefined
  } catch (error) {
    return asFailure(error)
  }
}

/**
 * Deletes a version that nobody uses. Failures: version_in_use at `/versionId` with who does, unavailable where the
 * scheduler does not say whether schedules do, and those of `getVersion`. A schedule that is made at the same time is left
 * with a name that is gone, and its firings say so.
 */
export async function deleteVersion(catalog: Catalog, owner: OwnerName, version: string, caller: CallContext) {
  const author = memberIn(caller)
  const { ownerId, id, tag } = await findVersionName(catalog.store, author.team, owner, version)
  const used = { processId: ownerId, name: tag, versionId: id }
  const schedules = owner.module === '' ? await scheduleUsers(catalog, used, caller) : nobody
  await removeVersion(catalog.store, author, owner, id, schedules)
}

/** Deletes an alias that nobody uses. Failures: alias_in_use at `/aliasId`, unavailable as above, and those of `getAlias`. */
export async function deleteAlias(
  catalog: Catalog,
  owner: OwnerName,
  aliasId: string,
  ifMatch: string[],
  caller: CallContext,
) {
  const author = memberIn(caller)
  const { ownerId, name } = await findAliasName(catalog.store, author.team, owner, aliasId)
  const schedules = owner.module === '' ? await scheduleUsers(catalog, { processId: ownerId, name }, caller) : nobody
  await removeAlias(catalog.store, author, owner, aliasId, { ifMatch, schedules })
}

interface UsedName {
  processId: string
  /** A version's tag, or an alias's name. */
  name: string
  versionId?: string
}

/** The schedules that use a version or an alias of a process. Fails with unavailable where the scheduler does not say. */
async function scheduleUsers({ scheduleUses }: Catalog, used: UsedName, caller: CallContext): Promise<Users> {
  const { requestId, traceparent } = caller
  const call = {
    ...ownContext(asService('process-catalog', memberIn(caller).team), schedulerTimeoutMs),
    requestId,
    traceparent,
  }
  try {
    const { users, count } = await scheduleUses.findScheduleUsers(used, call)
    const named = users.map(({ id, comment }) => `schedule ${id}${comment === undefined ? '' : ` (${comment})`}`)
    return { named, own: count, others: 0 }
  } catch (error) {
    const { kind } = asFailure(error)
    if (kind === 'internal') throw error
    throw unavailable('Schedules can not be asked now whether they use it, try again', error)
  }
}

const oldestTimeoutMs = 5000

/**
 * Removes what is left of deleted versions and former sources, and drafts, once no execution of them is kept: execution says how far
 * back its own go.
 */
export async function forgetVersions(
  store: Store,
  executions: ReadonlyMap<string, Client<typeof ExecutionService>>,
): Promise<void> {
  const call = ownContext(asService('process-catalog'), oldestTimeoutMs)
  const answers = await Promise.all([...executions.values()].map((ofCell) => ofCell.getOldest({}, call)))
  const times = answers.map(({ time }) => time && timestampMs(time))
  if (!times.every((time) => time !== undefined)) return
  const oldest = new Date(Math.min(...times))
  await forgetUnneeded(store, 'deleted_versions', oldest)
  await forgetUnneeded(store, 'former_sources', oldest)
  await forgetDrafts(store, oldest)
}
