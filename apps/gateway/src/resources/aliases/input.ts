import { z } from '@hono/zod-openapi'
import { text } from '../../rest/fields.ts'

/** What an alias is made of; a change may leave out either. */
const aliasInput = z
  .object({ name: text().nullish(), versionId: text().nullish().openapi({ description: 'A version id or a tag' }) })
  .openapi({ description: 'Both are needed to create one' })

const example = { name: 'live', versionId: 'v1' }

export const processAliasInput = aliasInput.openapi('VersionedProcessAliasInput', { example })
export const moduleAliasInput = aliasInput.openapi('CreateVersionedModuleAliasInput', { example })
