import { VersionService } from '@automation/contract/catalog/v1/version'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { pagingFields, presentPage, versionIdentifier } from '../../rest/parameters.ts'
import { presentWarnings } from '../../rest/shared-fields.ts'
import { emptyReply } from '../../rest/operation.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { ownerIn, type VersionOwner } from './owner.ts'

/** Published versions of processes, or of modules: list, publish, read, delete. */
export function versionRoutes(api: RestApi, neighbours: Neighbours, owner: VersionOwner): void {
  const versions = neighbours.client(VersionService)
  const { word, versionRecord, versionPage, presentVersion } = owner
  const all = { path: `${owner.path}/versions`, tag: owner.versionTag, parameters: owner.parameters }
  const one = {
    ...all,
    path: `${all.path}/{versionId}`,
    parameters: { ...owner.parameters, versionId: versionIdentifier },
  }

  api.add(
    {
      ...all,
      method: 'get',
      scope: 'read',
      summary: `List the versions of a ${word}, newest first`,
      query: z.object(pagingFields),
      success: { status: 200, description: 'One page of versions', schema: versionPage },
    },
    async ({ params, query, context }) => {
      const list = await versions.listVersions({ ...ownerIn(params), page: query }, context)
      return { body: presentPage(query, list.page, list.versions.map(owner.presentListedVersion)) }
    },
  )

  api.add(
    {
      ...all,
      method: 'post',
      scope: 'build',
      summary: `Publish a version of a ${word}`,
      body: owner.publishInput,
      success: { status: 201, description: 'The new version', schema: versionRecord },
      refusals: { 400: ['limit_reached', 'tag_taken'] },
    },
    async ({ params, body, bodyText, context }) => {
      const values = { ...ownerIn(params), ...owner.publishedValues(body, bodyText) }
      const version = await versions.publishVersion(values, context)
      return { body: { ...presentVersion(version), warnings: presentWarnings(version.warnings) } }
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      summary: `Read a version of a ${word}`,
      success: { status: 200, description: 'The version', schema: versionRecord },
    },
    async ({ params, context, exchange }) => {
      const { withoutSource } = exchange.onBehalf ?? {}
      const wanted = { ...ownerIn(params), version: params['versionId'], withoutSource }
      return { body: presentVersion(await versions.getVersion(wanted, context)) }
    },
  )

  api.add(
    {
      ...one,
      method: 'delete',
      scope: 'build',
      summary: `Delete a version of a ${word} that nothing uses`,
      success: { status: 200, description: 'Deleted' },
      refusals: { 400: ['invalid_input', 'version_in_use'] },
    },
    ({ params, context }) =>
      emptyReply(versions.deleteVersion({ ...ownerIn(params), version: params['versionId'] }, context)),
  )
}
