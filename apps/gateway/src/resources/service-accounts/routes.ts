import { TokenService } from '@automation/contract/catalog/v1/token'
import type { Neighbours } from '@automation/rpc'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { z } from '@hono/zod-openapi'
import { NOT_STORED } from '../../http/problem.ts'
import { emptyReply } from '../../rest/operation.ts'
import { onePage, pagingFields, presentPage, serviceAccountId } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import {
  newServiceAccountRecord,
  presentNewServiceAccount,
  presentServiceAccount,
  serviceAccountInput,
  serviceAccountRecord,
} from './record.ts'

/** Service accounts: the API tokens of the team, those that the operator made too. */
export function serviceAccountRoutes(api: RestApi, neighbours: Neighbours): void {
  const tokens = neighbours.client(TokenService)
  const all = { path: '/auth/service-accounts', tag: 'Token' }

  api.add(
    {
      ...all,
      method: 'get',
      scope: 'admin',
      summary: 'List service accounts, newest first',
      query: z.object(pagingFields),
      success: onePage('service accounts', 'ServiceAccountsPaginatedResult', serviceAccountRecord),
    },
    async ({ query, context }) => {
      const list = await tokens.listServiceAccounts({ page: query }, context)
      return { body: presentPage(query, list.page, list.accounts.map(presentServiceAccount)) }
    },
  )

  api.add(
    {
      ...all,
      method: 'post',
      scope: 'admin',
      summary: 'Create a service account; its secret is in this answer alone',
      body: serviceAccountInput,
      success: { status: 201, description: 'The account', schema: newServiceAccountRecord, headers: NOT_STORED },
      refusals: { 400: ['limit_reached'] },
    },
    async ({ body, endsByItselfAtMs, context }) => {
      const { name, scopes, expiresAt } = body
      const callerEndsAt = endsByItselfAtMs === undefined ? undefined : timestampFromMs(endsByItselfAtMs)
      const made = await tokens.createServiceAccount({ name, scopes: scopes ?? [], expiresAt, callerEndsAt }, context)
      return { body: presentNewServiceAccount(made), headers: NOT_STORED }
    },
  )

  api.add(
    {
      ...all,
      method: 'delete',
      scope: 'admin',
      path: '/auth/service-accounts/{id}',
      parameters: { id: serviceAccountId },
      summary: 'Delete a service account; access tokens that it has live to their own end',
      success: { status: 204, description: 'Deleted' },
    },
    ({ params, context }) => emptyReply(tokens.deleteServiceAccount({ id: params['id'] }, context)),
  )
}
