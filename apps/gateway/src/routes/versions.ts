import { VersionService } from '@automation/contract/catalog/v1/version'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { jsonObject, optionalText, text } from '../inputs/fields.ts'
import { pageOf, pagingFields } from '../inputs/paging.ts'
import { schemaText } from '../inputs/process.ts'
import { versionRecord } from '../pages/records.ts'
import { presentPage } from '../presenters/page.ts'
import { presentListedVersion, presentVersion } from '../presenters/version.ts'
import { processIdentifier, versionIdentifier } from './path-parameters.ts'
import type { RestApi } from './rest-api.ts'

const publishProcessInput = z
  .object({
    tag: text(),
    comment: optionalText(),
    sourceCode: text().nullish(),
    parametersSchema: jsonObject('a JSON Schema').nullish(),
    readme: text().nullish(),
  })
  .openapi('PublishProcessInput')

/** Published versions of a process: list, publish, read, delete. */
export function versionRoutes(api: RestApi, neighbours: Neighbours): void {
  const versions = neighbours.client(VersionService)
  const all = {
    path: '/processes/{identifier}/versions',
    tag: 'Versions',
    parameters: { identifier: processIdentifier },
  }
  const one = {
    path: '/processes/{identifier}/versions/{versionId}',
    tag: 'Versions',
    parameters: { identifier: processIdentifier, versionId: versionIdentifier },
  }

  api.add(
    {
      ...all,
      method: 'get',
      summary: 'List the versions of a process, newest first',
      query: z.object(pagingFields),
      success: { status: 200, description: 'One page of versions', schema: pageOf(versionRecord) },
      refusals: [400, 404],
    },
    async ({ params, query, context }) => {
      const list = await versions.listVersions({ process: params['identifier'], page: query }, context)
      return { body: presentPage(query, list.page, list.versions.map(presentListedVersion)) }
    },
  )

  api.add(
    {
      ...all,
      method: 'post',
      summary: 'Publish a version of a process',
      body: publishProcessInput,
      success: { status: 201, description: 'The new version', schema: versionRecord },
      refusals: [400, 404, 413, 415],
    },
    async ({ params, body, bodyText, context }) => ({
      body: presentVersion(
        await versions.publishVersion(
          {
            process: params['identifier'],
            tag: body.tag,
            comment: body.comment,
            sourceCode: body.sourceCode ?? undefined,
            parametersSchema: schemaText(body.parametersSchema, bodyText),
            readme: body.readme ?? undefined,
          },
          context,
        ),
      ),
    }),
  )

  api.add(
    {
      ...one,
      method: 'get',
      summary: 'Read a version',
      success: { status: 200, description: 'The version', schema: versionRecord },
      refusals: [404],
    },
    async ({ params, context }) => ({
      body: presentVersion(
        await versions.getVersion({ process: params['identifier'], version: params['versionId'] }, context),
      ),
    }),
  )

  api.add(
    {
      ...one,
      method: 'delete',
      summary: 'Delete a version that no alias points to',
      success: { status: 200, description: 'Deleted' },
      refusals: [400, 404],
    },
    async ({ params, context }) => {
      await versions.deleteVersion({ process: params['identifier'], version: params['versionId'] }, context)
      return {}
    },
  )
}
