import { ProcessService } from '@automation/contract/catalog/v1/process'
import type { Neighbours } from '@automation/rpc'
import { onePage, presentPage, processIdentifier } from '../../rest/parameters.ts'
import { emptyReply } from '../../rest/operation.ts'
import { tagged, taggedReply } from '../../rest/edits.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { filtersFrom, processFilters } from './filters.ts'
import { createdValues, createProcessInput, faultsAtScript, updatedValues, updateProcessInput } from './input.ts'
import {
  listedProcessRecord,
  presentListedProcess,
  presentProcess,
  presentWrittenProcess,
  processRecord,
} from './record.ts'

/** Processes: list, create, read, update, delete. */
export function processRoutes(api: RestApi, neighbours: Neighbours): void {
  const processes = neighbours.client(ProcessService)
  const one = { tag: 'Processes', parameters: { identifier: processIdentifier } }

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/processes',
      tag: 'Processes',
      summary: 'List processes, newest first',
      query: processFilters,
      success: onePage('processes', 'ProcessesPaginatedResult', listedProcessRecord),
    },
    async ({ query, context }) => {
      const list = await processes.listProcesses(filtersFrom(query), context)
      return {
        body: presentPage(
          query,
          list.page,
          list.processes.map((process) => presentListedProcess(process, context.principal)),
        ),
      }
    },
  )

  api.add(
    {
      method: 'post',
      scope: 'build',
      path: '/processes',
      tag: 'Processes',
      summary: 'Create a process',
      body: createProcessInput,
      success: tagged({ status: 201, description: 'The new process', schema: processRecord }),
      refusals: { 400: ['limit_reached', 'slug_taken'] },
    },
    async ({ body, bodyText, context }) => {
      const values = createdValues(body, bodyText)
      const process = await faultsAtScript(body, processes.createProcess({ values }, context))
      return taggedReply(process, presentWrittenProcess(process, context.principal))
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      path: '/processes/{identifier}',
      summary: 'Read a process',
      success: tagged({ status: 200, description: 'The process', schema: processRecord }),
    },
    async ({ params, context, exchange }) => {
      const { withoutSource } = exchange.onBehalf ?? {}
      const process = await processes.getProcess({ identifier: params['identifier'], withoutSource }, context)
      return taggedReply(process, presentProcess(process, context.principal))
    },
  )

  api.add(
    {
      ...one,
      method: 'patch',
      scope: 'build',
      path: '/processes/{identifier}',
      summary: 'Change a process (JSON Merge Patch)',
      body: updateProcessInput,
      conditional: true,
      success: tagged({ status: 200, description: 'The changed process', schema: processRecord }),
      refusals: { 400: ['slug_taken'] },
    },
    async ({ params, body, bodyText, ifMatch, context }) => {
      const change = { identifier: params['identifier'], ...updatedValues(body, bodyText), ifMatch }
      const process = await faultsAtScript(body, processes.updateProcess(change, context))
      return taggedReply(process, presentWrittenProcess(process, context.principal))
    },
  )

  api.add(
    {
      ...one,
      method: 'delete',
      scope: 'build',
      path: '/processes/{identifier}',
      summary: 'Delete a process with its executions and schedules',
      conditional: true,
      success: { status: 200, description: 'Deleted' },
    },
    ({ params, ifMatch, context }) =>
      emptyReply(processes.deleteProcess({ identifier: params['identifier'], ifMatch }, context)),
  )
}
