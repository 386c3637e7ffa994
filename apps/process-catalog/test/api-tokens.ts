import { operatorContext, serviceContext } from '@automation/testing'
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import type { CatalogUnderTest } from './catalog-under-test.ts'

export const gateway = serviceContext('gateway')
export const operator = operatorContext(600_000)

/** A new token of a new team, whole and in its parts. */
export async function newToken(catalog: CatalogUnderTest, name?: string) {
  const { principal } = await catalog.team()
  const { team } = principal
  const { apiToken, record } = await catalog.tokens.createApiToken({ team, name }, operator)
  const [clientId = '', secret = ''] = Buffer.from(apiToken.slice(3), 'base64').toString().split(':')
  return { team, apiToken, record, clientId, secret }
}

/** Exchanges a token as the gateway does. */
export function exchange(catalog: CatalogUnderTest, team: string, apiToken: string) {
  return catalog.tokens.exchangeToken({ team, apiToken }, gateway)
}

/** The public keys that the catalog lists now. */
export async function listedKeys(catalog: CatalogUnderTest): Promise<JSONWebKeySet> {
  return JSON.parse((await catalog.tokens.listSigningKeys({}, gateway)).jwks) as JSONWebKeySet
}

/** An access token's header and claims, verified by the listed keys. */
export async function verified(catalog: CatalogUnderTest, accessToken: string) {
  return jwtVerify(accessToken, createLocalJWKSet(await listedKeys(catalog)))
}
