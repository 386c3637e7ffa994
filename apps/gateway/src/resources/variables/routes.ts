import { VariableService } from '@automation/contract/catalog/v1/variable'
import { invalid } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { pageOf, pagingFields, presentPage } from '../../rest/paging.ts'
import { variableId } from '../../rest/path-parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { createVariableInput, updateVariableInput } from './input.ts'
import { listedVariableRecord, presentListedVariable, presentVariable, variableRecord } from './record.ts'

/** Team variables: list, create, update, delete. */
export function variableRoutes(api: RestApi, neighbours: Neighbours): void {
  const variables = neighbours.client(VariableService)
  const one = { path: '/variables/{id}', tag: 'Variables', parameters: { id: variableId } }

  api.add(
    {
      method: 'get',
      path: '/variables',
      tag: 'Variables',
      summary: 'List team variables, newest first',
      query: z.object(pagingFields),
      success: {
        status: 200,
        description: 'One page of variables',
        schema: pageOf('TeamVariablesPaginatedResult', listedVariableRecord),
      },
    },
    async ({ query, context }) => {
      const list = await variables.listVariables({ page: query }, context)
      return { body: presentPage(query, list.page, list.variables.map(presentListedVariable)) }
    },
  )

  api.add(
    {
      method: 'post',
      path: '/variables',
      tag: 'Variables',
      summary: 'Create a team variable',
      body: createVariableInput,
      success: { status: 201, description: 'The new variable', schema: variableRecord },
      refusals: { 400: ['key_taken', 'limit_reached'] },
    },
    async ({ body, context }) => {
      const { key, value, isSensitive } = body
      if (key == null) throw invalid('/key', 'is required')
      const made = await variables.createVariable(
        { key, value: value ?? '', isSensitive: isSensitive ?? false },
        context,
      )
      return { body: presentVariable(made) }
    },
  )

  api.add(
    {
      ...one,
      method: 'patch',
      summary: 'Change a team variable',
      body: updateVariableInput,
      success: { status: 200, description: 'The changed variable', schema: variableRecord },
      refusals: { 400: ['key_taken'] },
    },
    async ({ params, body, context }) => ({
      body: presentVariable(
        await variables.updateVariable(
          {
            id: params['id'],
            key: body.key ?? undefined,
            value: body.value ?? undefined,
            isSensitive: body.isSensitive,
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
      summary: 'Delete a team variable for good',
      success: { status: 200, description: 'Deleted' },
    },
    async ({ params, context }) => {
      await variables.deleteVariable({ id: params['id'] }, context)
      return {}
    },
  )
}
