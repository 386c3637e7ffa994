import { TokenService } from '@automation/contract/catalog/v1/token'
import { isTeamSlug } from '@automation/contract/forms'
import { asFailure, Failure } from '@automation/errors'
import type { CallContext, Neighbours } from '@automation/rpc'
import { identityOfIssued, type Identity } from './token-verifier.ts'

/**
 * Who calls with an API token alone, which also says for which team. Failures: unauthenticated api_token_missing,
 * api_token_invalid.
 */
export async function apiTokenIdentity(
  neighbours: Neighbours,
  header: string | string[] | undefined,
  context: CallContext,
): Promise<Identity> {
  if (typeof header !== 'string' || header === '')
    throw refused('api_token_missing', 'the header x-api-token is missing')
  const team = teamOf(header)
  if (team === '') throw invalid()
  try {
    const { accessToken } = await neighbours.client(TokenService).exchangeToken({ team, apiToken: header }, context)
    return identityOfIssued(accessToken)
  } catch (error) {
    const failure = asFailure(error)
    if (!failure.code.startsWith('api_token_')) throw failure
    throw invalid(failure)
  }
}

// Published connectors look for the first three words.
function refused(code: string, reason: string, cause?: unknown): Failure {
  return new Failure('unauthenticated', code, `Invalid API token: ${reason}`, { cause })
}

function invalid(cause?: unknown): Failure {
  return refused('api_token_invalid', 'the one in the header x-api-token is malformed, unknown or revoked', cause)
}

const longestToken = 4096

/** The team in the client id `sa-<team>-<8 letters>` of an API token in either of its forms; empty where it has none. */
function teamOf(apiToken: string): string {
  if (apiToken.length > longestToken) return ''
  const text = Buffer.from(apiToken.replace(/^sk-/, ''), 'base64').toString('utf8')
  const clientId = apiToken.startsWith('sk-') ? text.split(':', 1)[0] : /"clientId"\s*:\s*"([^"\\]*)"/.exec(text)?.[1]
  const team = /^sa-(.+)-[a-z0-9]{8}$/.exec(clientId ?? '')?.[1] ?? ''
  return isTeamSlug(team) ? team : ''
}
