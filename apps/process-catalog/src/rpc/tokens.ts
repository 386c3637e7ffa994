import { randomUUID } from 'node:crypto'
import type { TokenService } from '@automation/contract/catalog/v1/token'
import { Failure, invalid, notFound } from '@automation/errors'
import { principalIn, type Handlers } from '@automation/rpc'
import { isTeamSlug } from '@automation/contract/forms'
import { scope, signAccessToken } from '../signing-keys.ts'
import {
  apiTokenOf,
  isClientIdOf,
  newCredentials,
  readApiToken,
  secretMatches,
  type Credentials,
} from '../api-token.ts'
import type { Catalog } from '../catalog.ts'
import { limits } from '../limits.ts'
import { createApiToken, listApiTokens, revokeApiToken, tokenForExchange } from '../store/api-tokens.ts'
import { optionalText } from '../text.ts'

/** API tokens, what they are exchanged for, and the keys that sign it. */
export function tokenHandlers({ store, keys, config }: Catalog): Handlers<typeof TokenService> {
  return {
    async exchangeToken({ team, apiToken }, context) {
      principalIn(context, 'user', 'service', 'operator')
      const { clientId, clientSecret } = readApiToken(apiToken)
      // A token of another team, or of a form that none has, is not even looked for.
      const may = isTeamSlug(team) && isClientIdOf(team, clientId)
      const found = may ? await tokenForExchange(store, clientId) : undefined
      if (!secretMatches(clientSecret, found?.secretHash) || found?.team !== team)
        throw new Failure('unauthenticated', 'api_token_invalid', 'The API token is not valid for this team')
      const claims = {
        issuer: config.publicUrl,
        clientId,
        name: found.name ?? clientId,
        team,
        issuedAtS: Math.floor(Date.now() / 1000),
        ttlS: config.accessTokenTtlS,
        id: randomUUID(),
      }
      const accessToken = await signAccessToken(claims, found.kid, await keys.privateKey(found.kid))
      return { accessToken, expiresInS: config.accessTokenTtlS, scope }
    },

    async listSigningKeys(_, context) {
      principalIn(context, 'user', 'service', 'operator')
      return { jwks: await keys.keySet() }
    },

    async rotateSigningKey(_, context) {
      principalIn(context, 'operator')
      await keys.rotate()
      return {}
    },

    async createApiToken({ team, name, apiToken }, context) {
      const operator = principalIn(context, 'operator')
      if (!isTeamSlug(team)) throw notFound('team')
      const credentials = apiToken === undefined ? newCredentials(team) : givenCredentials(team, apiToken)
      // An empty name is none.
      const shownName = optionalText('/name', name || undefined, limits.nameCharacters)
      const record = await createApiToken(store, { ...operator, team }, shownName, credentials)
      return { apiToken: apiTokenOf(credentials), record }
    },

    async listApiTokens({ team }, context) {
      principalIn(context, 'operator')
      if (!isTeamSlug(team)) throw notFound('team')
      return { tokens: await listApiTokens(store, team) }
    },

    async revokeApiToken({ clientId }, context) {
      const operator = principalIn(context, 'operator')
      if (!/^[a-z0-9-]{1,255}$/.test(clientId)) throw notFound('api_token')
      await revokeApiToken(store, clientId, (team) => ({ ...operator, team }))
      return {}
    },
  }
}

function givenCredentials(team: string, apiToken: string): Credentials {
  const credentials = readApiToken(apiToken)
  if (!isClientIdOf(team, credentials.clientId))
    throw invalid('/apiToken', `must have a client id of the form sa-${team}-<8 of a-z, 0-9>`)
  if (/[:\0]/.test(credentials.clientSecret)) throw invalid('/apiToken', 'must have a secret without a colon')
  return credentials
}
