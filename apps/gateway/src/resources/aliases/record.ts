import type { Alias } from '@automation/contract/catalog/v1/alias'
import { presentTime } from '../../rest/time.ts'

/** An alias as JSON. */
export function presentAlias(alias: Alias): Record<string, unknown> {
  return {
    id: alias.id,
    name: alias.name,
    versionId: alias.versionId,
    createdBy: alias.createdBy,
    createdAt: presentTime(alias.createdAt),
    updatedBy: alias.updatedBy,
    updatedAt: presentTime(alias.updatedAt),
  }
}
