import type { SourceUser } from '@automation/contract/catalog/v1/source_user'
import { z } from '@hono/zod-openapi'
import { int32, uuid } from '../../rest/fields.ts'
import { pageOf } from '../../rest/parameters.ts'
import { samples } from '../../rest/samples.ts'

const sourceUser = z
  .object({
    type: z.enum(['PROCESS', 'MODULE']),
    id: uuid().openapi({ description: 'Of the process or module' }),
    name: z.string(),
    slug: z.string().optional().openapi({ description: 'Of a process' }),
    versionId: uuid().optional().openapi({ description: 'Where a published version is meant, not the current source' }),
    tag: z.string().optional().openapi({ description: 'Of that version' }),
  })
  .openapi('SourceUser', { example: { type: 'PROCESS', id: samples.id, name: 'Greeting', slug: 'greeting' } })

/** Who imports a module. */
export const moduleUsersPage = pageOf('ModuleUsersPaginatedResult', sourceUser, {
  inOtherTeams: int32().openapi({
    minimum: 0,
    description: 'How many sources of teams that inherit the module import it',
  }),
})

/** Which sources name a variable. */
export const variableUsersPage = pageOf('VariableUsersPaginatedResult', sourceUser, {
  incomplete: z.boolean().openapi({
    description: 'Not all sources were read: of 10,000, and of 64 MiB, the newest are',
  }),
})

/** A source that uses something, as JSON. */
export function presentSourceUser({
  id,
  isModule,
  name,
  slug,
  versionId,
  tag,
}: SourceUser): z.input<typeof sourceUser> {
  return { type: isModule ? 'MODULE' : 'PROCESS', id, name, slug, versionId, tag }
}
