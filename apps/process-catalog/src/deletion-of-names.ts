import { memberIn, type CallContext } from '@automation/rpc'
import type { Catalog } from './catalog.ts'
import { scheduleUsers } from './schedule-users.ts'
import { findAliasName, removeAlias } from './store/aliases.ts'
import type { OwnerName } from './store/owners.ts'
import { findVersionName, removeVersion } from './store/versions.ts'
import { nobody } from './users.ts'

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
export async function deleteAlias(catalog: Catalog, owner: OwnerName, aliasId: string, caller: CallContext) {
  const author = memberIn(caller)
  const { ownerId, name } = await findAliasName(catalog.store, author.team, owner, aliasId)
  const schedules = owner.module === '' ? await scheduleUsers(catalog, { processId: ownerId, name }, caller) : nobody
  await removeAlias(catalog.store, author, owner, aliasId, schedules)
}
