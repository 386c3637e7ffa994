import { ProcessService } from '@automation/contract/catalog/v1/process'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { text } from '../../rest/fields.ts'
import { pageOf, pagingFields, presentPage } from '../../rest/paging.ts'
import { processIdentifier } from '../../rest/path-parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { createdValues, createProcessInput, faultsAtScript, updatedValues, updateProcessInput } from './input.ts'
import {
  listedProcessRecord,
  presentListedProcess,
  presentProcess,
  presentWrittenProcess,
  processRecord,
} from './record.ts'

const tags = z
  .union([text(), z.array(text())])
  .optional()
  .transform((value) =>
    [value ?? []]
      .flat()
      .flatMap((part) => part.split(',').map((tag) => tag.trim()))
      .filter(Boolean),
  )
  .openapi({ type: 'array', items: { type: 'string' }, description: 'Repeated or comma-joined; any of them matches' })

/** Processes: list, create, read, update, delete. */
export function processRoutes(api: RestApi, neighbours: Neighbours): void {
  const processes = neighbours.client(ProcessService)
  const one = { tag: 'Processes', parameters: { identifier: processIdentifier } }

  api.add(
    {
      method: 'get',
      path: '/processes',
      tag: 'Processes',
      summary: 'List processes, newest first',
      query: z.object({
        keywords: text().optional().openapi({ description: 'Part of the name or the description, in any case' }),
        tags,
        ...pagingFields,
      }),
      success: {
        status: 200,
        description: 'One page of processes',
        schema: pageOf('ProcessesPaginatedResult', listedProcessRecord),
      },
    },
    async ({ query, context }) => {
      const { page, limit } = query
      const list = await processes.listProcesses(
        { page: { page, limit }, keywords: query.keywords ?? '', tags: query.tags },
        context,
      )
      return { body: presentPage(query, list.page, list.processes.map(presentListedProcess)) }
    },
  )

  api.add(
    {
      method: 'post',
      path: '/processes',
      tag: 'Processes',
      summary: 'Create a process',
      body: createProcessInput,
      success: { status: 201, description: 'The new process', schema: processRecord },
      refusals: { 400: ['limit_reached', 'slug_taken'] },
    },
    async ({ body, bodyText, context }) => ({
      body: presentWrittenProcess(
        await faultsAtScript(body, processes.createProcess({ values: createdValues(body, bodyText) }, context)),
      ),
    }),
  )

  api.add(
    {
      ...one,
      method: 'get',
      path: '/processes/{identifier}',
      summary: 'Read a process',
      success: { status: 200, description: 'The process', schema: processRecord },
    },
    async ({ params, context }) => ({
      body: presentProcess(await processes.getProcess({ identifier: params['identifier'] }, context)),
    }),
  )

  api.add(
    {
      ...one,
      method: 'patch',
      path: '/processes/{identifier}',
      summary: 'Change a process (JSON Merge Patch)',
      body: updateProcessInput,
      success: { status: 200, description: 'The changed process', schema: processRecord },
      refusals: { 400: ['slug_taken'] },
    },
    async ({ params, body, bodyText, context }) => ({
      body: presentWrittenProcess(
        await faultsAtScript(
          body,
          processes.updateProcess({ identifier: params['identifier'], ...updatedValues(body, bodyText) }, context),
        ),
      ),
    }),
  )

  api.add(
    {
      ...one,
      method: 'delete',
      path: '/processes/{identifier}',
      summary: 'Delete a process with its executions and schedules',
      success: { status: 200, description: 'Deleted' },
    },
    async ({ params, context }) => {
      await processes.deleteProcess({ identifier: params['identifier'] }, context)
      return {}
    },
  )
}
