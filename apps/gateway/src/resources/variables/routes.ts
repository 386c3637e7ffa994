import { VariableService } from '@automation/contract/catalog/v1/variable'
import { invalid } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { onePage, pagingFields, presentPage, variableId } from '../../rest/parameters.ts'
import { emptyReply } from '../../rest/operation.ts'
import { tagged, taggedReply } from '../../rest/edits.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { listedVariableRecord, presentListedVariable, presentVariable, variableRecord } from './record.ts'
import { presentSourceUser, variableUsersPage } from '../modules/users.ts'
import { optionalFlag, text } from '../../rest/fields.ts'

const createVariableInput = z
  .object({ key: text().nullish(), value: text().nullish(), isSensitive: optionalFlag() })
  .openapi('CreateTeamVariableInput', {
    description: 'Without a key it is refused',
    example: { key: 'SHOP_URL', value: 'https://shop.example', isSensitive: false },
  })

const updateVariableInput = z
  .object({
    key: text().nullish(),
    value: text().nullish().openapi({ description: 'The ****** that a sensitive value is read as keeps that value' }),
    isSensitive: optionalFlag().openapi({ description: 'Fixed at creation: another value is refused' }),
  })
  .openapi('UpdateTeamVariableInput', { example: { value: 'https://shop.example/v2' } })

/** Team variables: list, create, read, update, delete. */
export function variableRoutes(api: RestApi, neighbours: Neighbours): void {
  const variables = neighbours.client(VariableService)
  const one = { path: '/variables/{id}', tag: 'Variables', parameters: { id: variableId } }

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/variables',
      tag: 'Variables',
      summary: 'List team variables, newest first',
      query: z.object(pagingFields),
      success: onePage('variables', 'TeamVariablesPaginatedResult', listedVariableRecord),
    },
    async ({ query, context }) => {
      const list = await variables.listVariables({ page: query }, context)
      return { body: presentPage(query, list.page, list.variables.map(presentListedVariable)) }
    },
  )

  api.add(
    {
      method: 'post',
      scope: 'build',
      path: '/variables',
      tag: 'Variables',
      summary: 'Create a team variable',
      body: createVariableInput,
      success: tagged({ status: 201, description: 'The new variable', schema: variableRecord }),
      refusals: { 400: ['key_taken', 'limit_reached'] },
    },
    async ({ body, context }) => {
      const { key, value, isSensitive } = body
      if (key == null) throw invalid('/key', 'is required')
      const made = await variables.createVariable(
        { key, value: value ?? '', isSensitive: isSensitive ?? false },
        context,
      )
      return taggedReply(made, presentVariable(made))
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      summary: 'Read a team variable',
      success: tagged({ status: 200, description: 'The variable', schema: variableRecord }),
    },
    async ({ params, context }) => {
      const variable = await variables.getVariable({ id: params['id'] }, context)
      return taggedReply(variable, presentVariable(variable))
    },
  )

  api.add(
    {
      ...one,
      method: 'patch',
      scope: 'build',
      summary: 'Change a team variable',
      body: updateVariableInput,
      conditional: true,
      success: tagged({ status: 200, description: 'The changed variable', schema: variableRecord }),
      refusals: { 400: ['key_taken'] },
    },
    async ({ params, body, ifMatch, context }) => {
      const { isSensitive } = body
      const change = { id: params['id'], key: body.key ?? undefined, value: body.value ?? undefined, isSensitive }
      const variable = await variables.updateVariable({ ...change, ifMatch }, context)
      return taggedReply(variable, presentVariable(variable))
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      path: '/variables/{id}/users',
      summary: 'List the sources that name a variable: those that have its key as a word, in comments and texts, too',
      query: z.object(pagingFields),
      success: { status: 200, description: 'One page of users, processes first, by name', schema: variableUsersPage },
    },
    async ({ params, query, context }) => {
      const list = await variables.listVariableUsers({ id: params['id'], page: query }, context)
      const page = presentPage(query, list.page, list.users.map(presentSourceUser))
      return { body: { ...page, incomplete: list.incomplete } }
    },
  )

  api.add(
    {
      ...one,
      method: 'delete',
      scope: 'build',
      summary: 'Delete a team variable for good',
      conditional: true,
      success: { status: 200, description: 'Deleted' },
    },
    ({ params, ifMatch, context }) => emptyReply(variables.deleteVariable({ id: params['id'], ifMatch }, context)),
  )
}
