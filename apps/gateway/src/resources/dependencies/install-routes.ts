import { DependencyService } from '@automation/contract/catalog/v1/dependency'
import { isUuid } from '@automation/contract/forms'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { languageFrom, requiredText } from '../../rest/fields.ts'
import { installId, languageParameter, onePage, pagingFields, presentPage } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { logEntryRecord, presentLogEntry } from '../executions/record.ts'
import { installDiff, installDiffRecord, installRecord, presentInstall } from './installs.ts'
import { manifestRecord, presentManifest } from './record.ts'

const id = requiredText().refine(isUuid, 'must be the id of an installation')

const rollbackInput = z
  .object({ installId: id.openapi({ format: 'uuid' }) })
  .openapi('RollbackInput', { example: { installId: '0198c2a4-7d1e-7f3a-9b52-6a1d0c4e8f21' } })

/** What was installed of a team's dependencies, and how it goes back to that. */
export function installRoutes(api: RestApi, neighbours: Neighbours): void {
  const dependencies = neighbours.client(DependencyService)
  const all = {
    path: '/dependencies/{language}/installs',
    tag: 'Dependencies',
    parameters: { language: languageParameter },
  }
  const one = { tag: 'Dependencies', parameters: { language: languageParameter, id: installId } }
  const languageOf = (params: Record<string, string>) => languageFrom(params['language'] as 'JAVASCRIPT' | 'PYTHON')

  api.add(
    {
      ...all,
      method: 'get',
      scope: 'read',
      summary: 'List installations, newest first; the last 50 of each language are known',
      query: z.object(pagingFields),
      success: onePage('installations', 'DependencyInstallsPaginatedResult', installRecord),
    },
    async ({ params, query, context }) => {
      const { page, limit } = query
      const list = await dependencies.listInstalls({ language: languageOf(params), page: { page, limit } }, context)
      return { body: presentPage(query, list.page, list.installs.map(presentInstall)) }
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      path: '/dependencies/{language}/installs/{id}/logs',
      summary: 'Read what an installation has said, oldest first, also while it goes on',
      query: z.object(pagingFields),
      success: onePage('the log', 'DependencyInstallLogsPaginatedResult', logEntryRecord),
    },
    async ({ params, query, context }) => {
      const { page, limit } = query
      const request = { language: languageOf(params), id: params['id'], page: { page, limit } }
      const list = await dependencies.listInstallLogs(request, context)
      return { body: presentPage(query, list.page, list.entries.map(presentLogEntry)) }
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      path: '/dependencies/{language}/installs/{id}/diff',
      summary: 'Compare the versions that two installations have brought',
      query: z.object({
        to: id.openapi({ format: 'uuid', description: 'The other installation', param: { required: true } }),
      }),
      success: { status: 200, description: 'What the other one has in its place', schema: installDiffRecord },
    },
    async ({ params, query, context }) => {
      const language = languageOf(params)
      const [from, to] = await Promise.all([
        dependencies.getInstall({ language, id: params['id'] }, context),
        dependencies.getInstall({ language, id: query.to }, context),
      ])
      return { body: installDiff(from, to) }
    },
  )

  api.add(
    {
      ...all,
      method: 'post',
      scope: 'build',
      path: '/dependencies/{language}/rollback',
      alsoAt: '/dependencies/{language}/installs/rollback',
      summary: 'Have runs see the packages of an earlier installation',
      body: rollbackInput,
      success: { status: 200, description: 'The manifest with what is installed now', schema: manifestRecord },
      refusals: {
        400: ['install_failed', 'install_not_kept', 'installation_under_way'],
        404: ['install_not_found'],
      },
    },
    async ({ params, body, context }) => {
      const request = { language: languageOf(params), id: body.installId }
      return { body: presentManifest(await dependencies.rollBackInstall(request, context)) }
    },
  )
}
