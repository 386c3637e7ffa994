import { randomUUID } from 'node:crypto'
import type { TokenService } from '@automation/contract/catalog/v1/token'
import { Failure, invalid, notFound } from '@automation/errors'
import { operatorFor, principalIn, type Handlers } from '@automation/rpc'
import { isTeamSlug } from '@automation/contract/forms'
import { allows, isScope, scopes as allScopes, type Scope } from '@automation/contract/scopes'
import { signAccessToken } from '../access/signing-keys.ts'
import {
  apiTokenOf,
  bootstrapScopes,
  isClientIdOf,
  newCredentials,
  readApiToken,
  secretMatches,
  type Credentials,
} from '../access/api-token.ts'
import type { Catalog } from '../catalog.ts'
import { limits } from '../fields/limits.ts'
import {
  createApiToken,
  endAccess,
  listApiTokens,
  noteUse,
  revokeApiToken,
  tokenForExchange,
} from '../store/api-tokens.ts'
import { endParentByTokens } from '../store/inheritance.ts'
import { endSessions } from '../store/sessions.ts'
import { optionalText } from '../fields/text.ts'
import { serviceAccountHandlers } from './service-accounts.ts'

/** API tokens, what they are exchanged for, and the keys that sign it. */
export function tokenHandlers(catalog: Catalog): Handlers<typeof TokenService> {
  const { store, keys, config, exchanges, logger } = catalog
  return {
    ...serviceAccountHandlers(catalog),

    async exchangeToken({ team, apiToken, scopes: asked }, context) {
      const { ip } = principalIn(context, 'user', 'service', 'operator')
      const { clientId, clientSecret } = readApiToken(apiToken)
      // A token of another team, or of a form that none has, is not even looked for.
      const may = isTeamSlug(team) && isClientIdOf(team, clientId)
      const found = may ? await tokenForExchange(store, clientId) : undefined
      if (!secretMatches(clientSecret, found?.secretHash) || found?.team !== team) {
        if (may) exchanges.note({ team, clientId, ip, event: 'exchange_failed' })
        throw new Failure('unauthenticated', 'api_token_invalid', 'The API token is not valid for this team')
      }
      const name = found.name ?? clientId
      let scope: string
      try {
        scope = givenScopes(found.scopes, asked).join(' ')
      } catch (error) {
        exchanges.note({ team, clientId, name, ip, event: 'exchange_failed' })
        throw error
      }
      const ttlS = Math.min(config.accessTokenTtlS, found.endsInS ?? Infinity)
      const claims = {
        issuer: config.publicUrl,
        clientId,
        name,
        teams: [team],
        scope,
        issuedAtS: Math.floor(Date.now() / 1000),
        ttlS,
        id: randomUUID(),
      }
      const accessToken = await signAccessToken(claims, found.kid, await keys.privateKey(found.kid))
      if (found.isUseOld)
        noteUse(store, clientId).catch((err: unknown) =>
          logger.warn({ err, clientId }, 'the use of a token was not noted'),
        )
      exchanges.note({ team, clientId, name, ip, event: 'exchanged' })
      return { accessToken, expiresInS: ttlS, scope }
    },

    async listSigningKeys(_, context) {
      principalIn(context, 'user', 'service', 'operator')
      return { jwks: await keys.keySet() }
    },

    async rotateSigningKey({ atOnce }, context) {
      const by = principalIn(context, 'operator')
      await keys.rotate(by)
      if (atOnce) await keys.endFormer(by)
      return {}
    },

    async createApiToken({ team, name, apiToken, scopes }, context) {
      const operator = operatorFor(team, context)
      const credentials = apiToken === undefined ? newCredentials(team) : givenCredentials(team, apiToken)
      // An empty name is none.
      const shownName = optionalText('/name', name || undefined, limits.nameCharacters)
      const usual = apiToken === undefined ? (['executor'] as const) : bootstrapScopes
      const token = { name: shownName, scopes: scopes.length === 0 ? [...usual] : scopes.map(knownScope) }
      const record = await createApiToken(store, operator, token, credentials)
      return { apiToken: apiTokenOf(credentials), record }
    },

    async listApiTokens({ team }, context) {
      operatorFor(team, context)
      return { tokens: await listApiTokens(store, team) }
    },

    async endTeamAccess({ team }, context) {
      const operator = operatorFor(team, context)
      await endAccess(store, operator)
      await endSessions(store, team)
      await endParentByTokens(store, operator)
      return {}
    },

    async revokeApiToken({ clientId, atOnce }, context) {
      const operator = principalIn(context, 'operator')
      if (!/^[a-z0-9-]{1,255}$/.test(clientId)) throw notFound('api_token')
      await revokeApiToken(store, clientId, atOnce, (team) => ({ ...operator, team }))
      return {}
    },
  }
}

function givenCredentials(team: string, apiToken: string): Credentials {
  const credentials = readApiToken(apiToken, '/apiToken')
  if (!isClientIdOf(team, credentials.clientId))
    throw invalid('/apiToken', `must have a client id of the form sa-${team}-<8 of a-z, 0-9>`)
  if (/[:\0]/.test(credentials.clientSecret)) throw invalid('/apiToken', 'must have a secret without a colon')
  return credentials
}

/** Failure: invalid `/scopes`. */
export function knownScope(word: string): Scope {
  if (!isScope(word)) throw invalid('/scopes', `must be of ${Object.keys(allScopes).join(', ')}`)
  return word
}

/** What an access token is to allow: all that its API token may give, or what was asked for of it. Failure: invalid_scope. */
function givenScopes(own: Scope[], wanted: string[]): string[] {
  if (wanted.length === 0) return own
  const missing = wanted.find((word) => !isScope(word) || !allows(own.join(' '), word))
  if (missing === undefined) return [...new Set(wanted)]
  throw new Failure(
    'invalid_argument',
    'invalid_scope',
    `The API token can not give the scope ${missing.slice(0, 100)}; it has ${own.join(' ')}`,
  )
}
