import { ExecutionService } from '@automation/contract/execution/v1/execution'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { executionId, pageOf, presentPage } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { executionFilters } from './filters.ts'
import { executionRecord, originFrom, presentExecution, statusFrom } from './record.ts'

/** Above the id of every execution. */
const NEWEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const executionPage = pageOf('ExecutionsPaginatedResult', executionRecord, {
  after: z
    .string()
    .optional()
    .openapi({ description: 'Of lists that are read with `after`: for the next page, if any' }),
})

/** Executions: list, read, kill. What starts runs is in start-routes.ts and repeat-routes.ts. */
export function executionRoutes(api: RestApi, neighbours: Neighbours): void {
  const executions = neighbours.client(ExecutionService)
  const one = { tag: 'Executions', parameters: { id: executionId } }

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/executions',
      tag: 'Executions',
      summary: 'List executions, newest first',
      query: executionFilters,
      success: {
        status: 200,
        description: 'One page of executions',
        schema: executionPage,
      },
    },
    async ({ query, context }) => {
      const { page, limit, keywords, comment, processId, versionId, from, to, trial } = query
      const statuses = query.status.map(statusFrom)
      const after = query.after === '' ? (page > 0 ? undefined : NEWEST) : query.after
      const request = {
        page: { page, limit },
        keywords: keywords ?? '',
        processId,
        scheduleId: query.scheduledId,
        versionId,
        statuses,
        status: statuses.length === 1 ? statuses[0] : undefined,
        origins: query.origin.map(originFrom),
        trial,
        from,
        to,
        comment: comment ?? '',
        words: query.q ?? '',
        after,
      }
      const isNew = [
        statuses.length > 1,
        query.origin.length > 0,
        query.scheduledId,
        versionId,
        trial !== undefined,
        query.q,
        after,
      ]
      const list = isNew.some(Boolean)
        ? await executions.searchExecutions(request, context)
        : await executions.listExecutions(request, context)
      const answer = presentPage(query, list.page, list.executions.map(presentExecution))
      const last = after !== undefined && answer.hasNextPage ? answer.data.at(-1) : undefined
      return { body: { ...answer, ...(last !== undefined && { after: last.id }) } }
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      path: '/executions/{id}',
      summary: 'Read an execution',
      success: { status: 200, description: 'The execution', schema: executionRecord },
    },
    async ({ params, context }) => ({
      body: presentExecution(await executions.getExecution({ id: params['id'] }, context)),
    }),
  )

  api.add(
    {
      ...one,
      method: 'put',
      scope: 'run',
      path: '/executions/{id}/kill',
      summary: 'Kill an execution that has not ended',
      success: { status: 202, description: 'The id of the execution', schema: z.string() },
      refusals: { 400: ['execution_ended', 'invalid_input'] },
    },
    async ({ params, context }) => {
      await executions.killExecution({ id: params['id'] }, context)
      return { body: params['id'] }
    },
  )
}
