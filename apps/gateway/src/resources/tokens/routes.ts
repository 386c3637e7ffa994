import { type AccessToken, TokenService } from '@automation/contract/catalog/v1/token'
import { scopesIn } from '@automation/contract/scopes'
import { asFailure, Failure, invalid, unavailable } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import type { TeamAddresses } from '../../auth/team-addresses.ts'
import type { BodyBudget } from '../../http/body-budget.ts'
import { addressOf, type ClientAddress } from '../../http/caller.ts'
import { NOT_STORED, OAUTH_ERRORS } from '../../http/problem.ts'
import type { Call } from '../../rest/operation.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { clientCredentials, invalidClient } from './client-credentials.ts'

const tokenRecord = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().openapi({ format: 'int64', description: 'Seconds' }),
    scope: z
      .string()
      .openapi({ description: 'What was granted. To the header x-api-token, executor stands for all words beside it' }),
  })
  .openapi('Token', {
    example: { access_token: 'eyJhbGciOi…', token_type: 'Bearer', expires_in: 3600, scope: 'executor' },
  })

/** An access token in the words of OAuth. */
function presentToken({ accessToken, expiresInS, scope }: Granted): z.input<typeof tokenRecord> {
  return { access_token: accessToken, token_type: 'Bearer', expires_in: expiresInS, scope }
}

const tokenRequest = z
  .object({
    grant_type: z.enum(['client_credentials']),
    client_id: z.string().optional().openapi({ description: 'Such as sa-demo-1a2b3c4d, where not by HTTP Basic' }),
    client_secret: z.string().optional().openapi({ format: 'password', description: 'Where not by HTTP Basic' }),
    scope: z.string().optional().openapi({
      description: 'Scopes with spaces between, of those that the account has; all of them where it is absent',
      example: 'read run',
    }),
  })
  .openapi({
    title: 'TokenRequest',
    description: 'The client-credentials form of OAuth 2.0 (RFC 6749)',
    example: { grant_type: 'client_credentials', client_id: 'sa-demo-1a2b3c4d', client_secret: 'its secret' },
  })

interface TokenRoutesDependencies {
  neighbours: Neighbours
  teamAddresses: TeamAddresses
  clientAddress: ClientAddress
  /** Of the bodies of all calls in flight. */
  budget: BodyBudget
}

/**
 * The exchange of an API token for an access token. With the API token in a header a body of any form is tolerated: it
 * is not read.
 */
export function tokenRoutes(api: RestApi, dependencies: TokenRoutesDependencies): void {
  const { neighbours, budget, teamAddresses, clientAddress } = dependencies
  const tokens = neighbours.client(TokenService)
  const exchanged = (
    input: { team: string; apiToken: string; scopes?: string[] },
    { exchange, context }: Call<unknown, unknown>,
  ) => {
    // From elsewhere a token is worth as little as one that is none.
    if (!teamAddresses.mayExchange(input.team, addressOf(exchange, clientAddress)))
      throw new Failure('unauthenticated', 'api_token_invalid', 'The API token is not valid for this team')
    return tokens.exchangeToken(input, context)
  }

  api.add(
    {
      method: 'post',
      path: '/auth/token',
      tag: 'Token',
      summary: 'Exchange an API token for an access token',
      headers: z.object({
        'x-api-token': z.string().openapi({
          description: 'The API token. Who sends the form leaves it out; beside it any body is ignored',
        }),
      }),
      content: { 'application/x-www-form-urlencoded': tokenRequest },
      bodyOptional: true,
      success: {
        status: 200,
        description: 'The access token',
        schema: tokenRecord,
        headers: NOT_STORED,
      },
      refusals: {
        400: ['api_token_malformed', 'api_token_missing', ...OAUTH_ERRORS],
        401: ['api_token_invalid', 'invalid_client'],
        429: ['too_many_calls'],
      },
      open: true,
      perAddress: true,
    },
    async (call) => {
      const { exchange, team } = call
      const { 'x-api-token': header } = exchange.incoming.headers
      if (typeof header === 'string' && header !== '')
        return granted(asEver(await exchanged({ team, apiToken: header }, call)))
      const asked = await clientCredentials(exchange, budget)
      if (asked === undefined) throw invalid('/x-api-token', 'The header x-api-token is missing', 'api_token_missing')
      return granted(noMoreThan(asked.scopes, await asClient(exchanged({ team, ...asked }, call))))
    },
  )
}

type Granted = Pick<AccessToken, 'accessToken' | 'expiresInS' | 'scope'>

const granted = (token: Granted) => ({ body: presentToken(token), headers: NOT_STORED })

/** Clients of the header know the one word `executor`, and some compare. */
function asEver({ accessToken, expiresInS, scope }: AccessToken): Granted {
  return { accessToken, expiresInS, scope: scopesIn(scope).includes('executor') ? 'executor' : scope }
}

/** A catalog that is older than this gateway knows no scopes, and gives all. Failure: unavailable. */
function noMoreThan(asked: readonly string[], token: AccessToken): AccessToken {
  if (asked.length > 0 && !token.scope.split(' ').every((word) => asked.includes(word)))
    throw unavailable('Scopes can not be narrowed while the system is being upgraded, try again')
  return token
}

/** Refusals of an API token in the words of OAuth. */
async function asClient<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const failure = asFailure(error)
    throw failure.code.startsWith('api_token_') ? invalidClient(failure) : failure
  }
}
