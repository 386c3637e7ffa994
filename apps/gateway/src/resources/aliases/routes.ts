import { AliasService } from '@automation/contract/catalog/v1/alias'
import type { FieldFault } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { text } from '../../rest/fields.ts'
import { aliasId, pagingFields, presentPage } from '../../rest/parameters.ts'
import { emptyReply } from '../../rest/operation.ts'
import { tagged, taggedReply } from '../../rest/edits.ts'
import { invalidInput, type RestApi } from '../../rest/rest-api.ts'
import { ownerIn, type VersionOwner } from '../versions/owner.ts'
import { presentAlias } from './record.ts'

/** Aliases of versions of processes, or of modules: list, create, read, update, delete. */
export function aliasRoutes(api: RestApi, neighbours: Neighbours, owner: VersionOwner): void {
  const aliases = neighbours.client(AliasService)
  const { word, aliasRecord, aliasPage } = owner
  const all = { path: `${owner.path}/aliases`, tag: owner.aliasTag, parameters: owner.parameters }
  const one = { ...all, path: `${all.path}/{aliasId}`, parameters: { ...owner.parameters, aliasId } }

  api.add(
    {
      ...all,
      method: 'get',
      scope: 'read',
      summary: `List the aliases of a ${word}, newest first`,
      query: z.object({
        versionId: text().optional().openapi({ description: 'Only aliases of this version (id or tag)' }),
        ...pagingFields,
      }),
      success: { status: 200, description: 'One page of aliases', schema: aliasPage },
    },
    async ({ params, query, context }) => {
      const { page, limit, versionId } = query
      const list = await aliases.listAliases(
        { ...ownerIn(params), page: { page, limit }, version: versionId ?? '' },
        context,
      )
      return { body: presentPage(query, list.page, list.aliases.map(presentAlias)) }
    },
  )

  api.add(
    {
      ...all,
      method: 'post',
      scope: 'build',
      summary: `Create an alias of a version of a ${word}`,
      body: owner.aliasInput,
      success: tagged({ status: 201, description: 'The new alias', schema: aliasRecord }),
      refusals: { 400: ['alias_taken', 'limit_reached'], 404: ['version_not_found'] },
    },
    async ({ params, body, context }) => {
      const { name, versionId: version } = body
      if (name == null || version == null) throw invalidInput(missing(body))
      const alias = await aliases.createAlias({ ...ownerIn(params), name, version }, context)
      return taggedReply(alias, presentAlias(alias))
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      summary: `Read an alias of a ${word}`,
      success: tagged({ status: 200, description: 'The alias', schema: aliasRecord }),
    },
    async ({ params, context }) => {
      const alias = await aliases.getAlias({ ...ownerIn(params), aliasId: params['aliasId'] }, context)
      return taggedReply(alias, presentAlias(alias))
    },
  )

  api.add(
    {
      ...one,
      method: 'patch',
      scope: 'build',
      summary: `Rename an alias of a ${word}, or point it to another version`,
      body: owner.aliasInput,
      conditional: true,
      success: tagged({ status: 200, description: 'The changed alias', schema: aliasRecord }),
      refusals: { 400: ['alias_taken'], 404: ['version_not_found'] },
    },
    async ({ params, body, ifMatch, context }) => {
      const change = { name: body.name ?? undefined, version: body.versionId ?? undefined, ifMatch }
      const alias = await aliases.updateAlias({ ...ownerIn(params), aliasId: params['aliasId'], ...change }, context)
      return taggedReply(alias, presentAlias(alias))
    },
  )

  api.add(
    {
      ...one,
      method: 'delete',
      scope: 'build',
      summary: `Delete an alias of a ${word} that nothing uses`,
      conditional: true,
      success: { status: 200, description: 'Deleted' },
      refusals: { 400: ['alias_in_use', 'invalid_input'] },
    },
    ({ params, ifMatch, context }) =>
      emptyReply(aliases.deleteAlias({ ...ownerIn(params), aliasId: params['aliasId'], ifMatch }, context)),
  )
}

function missing({ name, versionId }: { name?: unknown; versionId?: unknown }): FieldFault[] {
  const paths = [...(name == null ? ['/name'] : []), ...(versionId == null ? ['/versionId'] : [])]
  return paths.map((path) => ({ path, message: 'is required' }))
}
