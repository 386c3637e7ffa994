import type { Client } from '@automation/client'

/** Who a token belongs to, as its access token says. */
export interface Identity {
  team: string
  url: string
  subject?: string
  name?: string
  scopes: string[]
  /** When the access token ends; an API token gets another one then. */
  accessTokenExpiresAt?: string
}

/** Reads the claims of the access token; the service alone checks them. */
export async function readIdentity(client: Client): Promise<Identity> {
  const claims = claimsOf((await client.accessToken()) ?? '')
  return {
    team: client.team.slug,
    url: client.url,
    subject: textOf(claims['sub'] ?? claims['client_id']),
    name: textOf(claims['name'] ?? claims['preferred_username']),
    scopes: (textOf(claims['scope']) ?? '').split(' ').filter((scope) => scope !== ''),
    ...(typeof claims['exp'] === 'number' && { accessTokenExpiresAt: new Date(claims['exp'] * 1000).toISOString() }),
  }
}

function claimsOf(token: string): Record<string, unknown> {
  const [, payload] = token.split('.')
  if (payload === undefined) return {}
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, unknown>
  } catch {
    return {} // a token of another form; what it may do is seen by what the service allows
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)
