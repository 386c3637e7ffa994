import { Failure } from '@automation/errors'
import type { Principal } from '@automation/rpc'
import { isTeamSlug } from '@automation/contract/forms'
import { hasScope, type Identity } from './token-verifier.ts'

// An access token has dots, which neither form of an API token has: `sk-` and base64, or base64 of a JSON object.
const API_TOKEN = /^(?:sk-|eyJ)[A-Za-z0-9+/_=-]*$/

/**
 * The token of an `Authorization: Bearer` header, for calls on a team. Failures: token_missing; token_invalid for an API
 * token, which is to be exchanged first.
 */
export function bearerToken(header: string | undefined, team: string): string {
  const token = header !== undefined && /^bearer /i.test(header) ? header.slice(7).trim() : ''
  if (token === '')
    throw new Failure(
      'unauthenticated',
      'token_missing',
      `An access token is needed, in the header Authorization: Bearer <access token>. ${exchangeHint(team)}`,
    )
  if (API_TOKEN.test(token))
    throw new Failure(
      'unauthenticated',
      'token_invalid',
      `This is an API token, no access token. ${exchangeHint(team)}`,
    )
  return token
}

function exchangeHint(team: string): string {
  const named = isTeamSlug(team) ? team : '{team}'
  return `POST /api/${named}/rest/auth/token exchanges an API token, in the header x-api-token, for an access token`
}

/**
 * The principal that acts for a team. A token of another team, or without the scope `executor`, is refused alike for
 * teams that exist, teams that don't, and what is no team's name at all.
 */
export function principalFor(identity: Identity, team: string, initiatedBy: string | undefined, ip: string): Principal {
  if (!hasScope(identity.scope, 'executor') || !identity.groups.includes(team) || !isTeamSlug(team))
    throw new Failure('permission_denied', 'forbidden', 'The access token does not allow this')
  return {
    role: 'user',
    team,
    subject: identity.subject,
    name: identity.name,
    scope: identity.scope,
    ...(initiatedBy !== undefined && { initiatedBy }),
    ip,
  }
}
