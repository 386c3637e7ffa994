import { AliasService } from '@automation/contract/catalog/v1/alias'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { text } from '../inputs/fields.ts'
import { pageOf, pagingFields } from '../inputs/paging.ts'
import { aliasRecord } from '../pages/records.ts'
import { presentAlias } from '../presenters/alias.ts'
import { presentPage } from '../presenters/page.ts'
import { aliasId, processIdentifier } from './path-parameters.ts'
import type { RestApi } from './rest-api.ts'

const reference = text().openapi({ description: 'A version id or a tag' })
const aliasInput = z.object({ name: text(), versionId: reference }).openapi('VersionedProcessAliasInput')
const aliasPatch = z.object({ name: text().nullish(), versionId: reference.nullish() })

/** Aliases of versions: list, create, read, update, delete. */
export function aliasRoutes(api: RestApi, neighbours: Neighbours): void {
  const aliases = neighbours.client(AliasService)
  const all = { path: '/processes/{identifier}/aliases', tag: 'Aliases', parameters: { identifier: processIdentifier } }
  const one = {
    path: '/processes/{identifier}/aliases/{aliasId}',
    tag: 'Aliases',
    parameters: { identifier: processIdentifier, aliasId },
  }

  api.add(
    {
      ...all,
      method: 'get',
      summary: 'List the aliases of a process, newest first',
      query: z.object({
        versionId: text().optional().openapi({ description: 'Only aliases of this version (id or tag)' }),
        ...pagingFields,
      }),
      success: { status: 200, description: 'One page of aliases', schema: pageOf(aliasRecord) },
      refusals: [400, 404],
    },
    async ({ params, query, context }) => {
      const { page, limit, versionId } = query
      const list = await aliases.listAliases(
        { process: params['identifier'], page: { page, limit }, version: versionId ?? '' },
        context,
      )
      return { body: presentPage(query, list.page, list.aliases.map(presentAlias)) }
    },
  )

  api.add(
    {
      ...all,
      method: 'post',
      summary: 'Create an alias of a version',
      body: aliasInput,
      success: { status: 201, description: 'The new alias', schema: aliasRecord },
      refusals: [400, 404, 413, 415],
    },
    async ({ params, body, context }) => ({
      body: presentAlias(
        await aliases.createAlias({ process: params['identifier'], name: body.name, version: body.versionId }, context),
      ),
    }),
  )

  api.add(
    {
      ...one,
      method: 'get',
      summary: 'Read an alias',
      success: { status: 200, description: 'The alias', schema: aliasRecord },
      refusals: [404],
    },
    async ({ params, context }) => ({
      body: presentAlias(
        await aliases.getAlias({ process: params['identifier'], aliasId: params['aliasId'] }, context),
      ),
    }),
  )

  api.add(
    {
      ...one,
      method: 'patch',
      summary: 'Rename an alias, or point it to another version',
      body: aliasPatch,
      success: { status: 200, description: 'The changed alias', schema: aliasRecord },
      refusals: [400, 404, 413, 415],
    },
    async ({ params, body, context }) => ({
      body: presentAlias(
        await aliases.updateAlias(
          {
            process: params['identifier'],
            aliasId: params['aliasId'],
            name: body.name ?? undefined,
            version: body.versionId ?? undefined,
          },
          context,
        ),
      ),
    }),
  )

  api.add(
    {
      ...one,
      method: 'delete',
      summary: 'Delete an alias',
      success: { status: 200, description: 'Deleted' },
      refusals: [404],
    },
    async ({ params, context }) => {
      await aliases.deleteAlias({ process: params['identifier'], aliasId: params['aliasId'] }, context)
      return {}
    },
  )
}
