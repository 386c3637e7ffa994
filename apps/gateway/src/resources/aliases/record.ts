import type { Alias } from '@automation/contract/catalog/v1/alias'
import { z } from '@hono/zod-openapi'
import { uuid } from '../../rest/fields.ts'
import { changed, made, presentWriters } from '../../rest/record.ts'
import { samples } from '../../rest/samples.ts'

const shape = { id: uuid(), name: z.string(), versionId: uuid(), ...made, ...changed }
const example = { id: samples.id, name: 'live', versionId: samples.versionId, ...samples.made }

export const aliasRecord = z.object(shape).openapi('VersionedProcessAlias', { example })
export const moduleAliasRecord = z.object(shape).openapi('VersionedModuleAlias', { example })

/** An alias as JSON. */
export function presentAlias(alias: Alias): z.input<typeof aliasRecord> {
  return { id: alias.id, name: alias.name, versionId: alias.versionId, ...presentWriters(alias) }
}
