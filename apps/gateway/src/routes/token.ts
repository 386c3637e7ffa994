import { TokenService } from '@automation/contract/catalog/v1/token'
import { invalid } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { tokenRecord } from '../pages/records.ts'
import type { RestApi } from './rest-api.ts'

/** The exchange of an API token for an access token. A body of any form is tolerated: it is not read. */
export function tokenRoutes(api: RestApi, neighbours: Neighbours): void {
  const tokens = neighbours.client(TokenService)

  api.add(
    {
      method: 'post',
      path: '/auth/token',
      tag: 'Token',
      summary: 'Exchange an API token for an access token',
      headers: z.object({ 'x-api-token': z.string().openapi({ description: 'The API token' }) }),
      success: {
        status: 200,
        description: 'The access token',
        schema: tokenRecord,
        headers: { 'Cache-Control': 'no-store' },
      },
      refusals: [400, 401],
      open: true,
    },
    async ({ exchange, team, context }) => {
      const apiToken = exchange.incoming.headers['x-api-token']
      if (typeof apiToken !== 'string' || apiToken === '')
        throw invalid('/x-api-token', 'The header x-api-token is missing', 'api_token_missing')
      const token = await tokens.exchangeToken({ team, apiToken }, context)
      const body = {
        access_token: token.accessToken,
        token_type: 'Bearer',
        expires_in: token.expiresInS,
        scope: token.scope,
      }
      return { body, headers: { 'Cache-Control': 'no-store' } }
    },
  )
}
