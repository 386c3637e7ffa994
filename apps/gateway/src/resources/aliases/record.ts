import type { Alias } from '@automation/contract/catalog/v1/alias'
import { z } from '@hono/zod-openapi'
import { uuid } from '../../rest/fields.ts'
import { changed, made, presentWriters } from '../../rest/shared-fields.ts'
import { samples } from '../../rest/samples.ts'

const previousVersionIds = z.array(uuid()).max(32).optional().openapi({
  description:
    'The versions that it led to before, the last first, each once, at most 32; absent where there are none. Some may be deleted',
})
const shape = { id: uuid(), name: z.string(), versionId: uuid(), previousVersionIds, ...made, ...changed }
const example = { id: samples.id, name: 'live', versionId: samples.versionId, ...samples.made }

export const aliasRecord = z.object(shape).openapi('VersionedProcessAlias', { example })
export const moduleAliasRecord = z.object(shape).openapi('VersionedModuleAlias', { example })

/** An alias as JSON. */
export function presentAlias(alias: Alias): z.input<typeof aliasRecord> {
  const { id, name, versionId, previousVersionIds } = alias
  return {
    ...{ id, name, versionId, ...presentWriters(alias) },
    previousVersionIds: previousVersionIds.length === 0 ? undefined : previousVersionIds,
  }
}
