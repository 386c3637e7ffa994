import { ExecutionService } from '@automation/contract/execution/v1/execution'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { text } from '../../rest/fields.ts'
import { pageOf, pagingFields, presentPage } from '../../rest/paging.ts'
import { executionId, processIdFilter } from '../../rest/path-parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { time } from '../../rest/time.ts'
import {
  executionRecord,
  logEntryRecord,
  presentExecution,
  presentLogEntry,
  STATUS_NAMES,
  statusFrom,
  type StatusName,
} from './record.ts'

const status = z
  .string()
  .optional()
  .transform((value, check) => {
    if (value === undefined || value === '') return undefined
    if (STATUS_NAMES.includes(value as StatusName)) return statusFrom(value as StatusName)
    check.addIssue({ code: 'custom', message: `must be one of ${STATUS_NAMES.join(', ')}` })
    return z.NEVER
  })
  .openapi({ type: 'string', enum: [...STATUS_NAMES] })

const filters = z.object({
  keywords: text().optional().openapi({ description: 'Part of the process name or the comment, in any case' }),
  processId: processIdFilter,
  status,
  from: time(),
  to: time(),
  comment: text().optional().openapi({ description: 'Part of the comment, in any case' }),
  ...pagingFields,
})

/** Executions: list, read, logs, kill. What starts runs is in start-routes.ts. */
export function executionRoutes(api: RestApi, neighbours: Neighbours): void {
  const executions = neighbours.client(ExecutionService)
  const one = { tag: 'Executions', parameters: { id: executionId } }

  api.add(
    {
      method: 'get',
      path: '/executions',
      tag: 'Executions',
      summary: 'List executions, newest first',
      query: filters,
      success: {
        status: 200,
        description: 'One page of executions',
        schema: pageOf('ExecutionsPaginatedResult', executionRecord),
      },
    },
    async ({ query, context }) => {
      const list = await executions.listExecutions(
        {
          page: { page: query.page, limit: query.limit },
          keywords: query.keywords ?? '',
          processId: query.processId,
          status: query.status,
          from: query.from,
          to: query.to,
          comment: query.comment ?? '',
        },
        context,
      )
      return { body: presentPage(query, list.page, list.executions.map(presentExecution)) }
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
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
      method: 'get',
      path: '/executions/{id}/logs',
      summary: 'Read the log of an execution, oldest first, also while it runs',
      query: z.object(pagingFields),
      success: {
        status: 200,
        description: 'One page of the log',
        schema: pageOf('ExecutionLogsPaginatedResult', logEntryRecord),
      },
    },
    async ({ params, query, context }) => {
      const list = await executions.listLogs({ executionId: params['id'], page: query }, context)
      return { body: presentPage(query, list.page, list.entries.map(presentLogEntry)) }
    },
  )

  api.add(
    {
      ...one,
      method: 'put',
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
