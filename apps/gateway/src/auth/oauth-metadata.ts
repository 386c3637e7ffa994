import { isTeamSlug } from '@automation/contract/forms'
import { scopes } from '@automation/contract/scopes'
import type { GatewayConfig } from '../config.ts'
import type { Answer } from '../http/exchange.ts'

export type OAuthConfig = Pick<GatewayConfig, 'publicUrl' | 'external'>

// The path of an issuer or a resource stands behind the well-known one (RFC 8414 §3.1, RFC 9728 §3.1).
const ADDRESS = /^\/\.well-known\/oauth-(authorization-server|protected-resource)\/api\/([^/]+)\/(rest|mcp)\/?$/
const RESOURCE = /^\/api\/([^/]+)\/(rest|mcp)(?:\/|$)/

/**
 * What OAuth clients ask before anything else: of a team's token address (RFC 8414), and of its REST interface and of MCP
 * as what tokens are for (RFC 9728). The same for teams that are there and that are not. Undefined for any other path.
 */
export function metadataAnswer(path: string, config: OAuthConfig): Answer | undefined {
  const [, kind, team = '', interfaceName] = ADDRESS.exec(path) ?? []
  if (kind === undefined || !isTeamSlug(team)) return undefined
  const rest = `${config.publicUrl}/api/${team}/rest`
  if (kind === 'authorization-server' && interfaceName !== 'rest') return undefined
  const resource = interfaceName === 'rest' ? restResource(rest, config) : mcpResource(rest, team, config)
  const body = kind === 'authorization-server' ? tokenAddress(rest, config) : resource
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': 'public, max-age=300',
    'Access-Control-Allow-Origin': '*',
  }
  return { status: 200, headers, body: JSON.stringify(body) }
}

/**
 * Where the metadata of the resource is that a path belongs to, for a challenge (RFC 9728 §5.1); undefined outside of the
 * REST interface and of MCP.
 */
export function metadataUrlOf(path: string, { publicUrl }: OAuthConfig): string | undefined {
  const [, team = '', interfaceName = ''] = RESOURCE.exec(path) ?? []
  const isResource = isTeamSlug(team)
  return isResource ? `${publicUrl}/.well-known/oauth-protected-resource/api/${team}/${interfaceName}` : undefined
}

function tokenAddress(issuer: string, { publicUrl }: OAuthConfig): object {
  return {
    issuer,
    token_endpoint: `${issuer}/auth/token`,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    grant_types_supported: ['client_credentials'],
    // People sign in at the issuer that the metadata of the resource names: none of its flows is here. Clients refuse an
    // empty list.
    response_types_supported: ['none'],
    scopes_supported: Object.keys(scopes),
    jwks_uri: `${publicUrl}/.well-known/jwks.json`,
    service_documentation: `${publicUrl}/docs`,
  }
}

function restResource(resource: string, { publicUrl, external }: OAuthConfig): object {
  return {
    resource,
    authorization_servers: [resource, ...(external === undefined ? [] : [external.issuer])],
    scopes_supported: Object.keys(scopes),
    ...shared(publicUrl),
  }
}

/** Clients of MCP take the first that they are named, and people sign in at the issuer alone. */
function mcpResource(rest: string, team: string, { publicUrl, external }: OAuthConfig): object {
  return {
    resource: `${publicUrl}/api/${team}/mcp`,
    authorization_servers: [...(external === undefined ? [] : [external.issuer]), rest],
    scopes_supported: Object.keys(scopes).filter((word) => word.startsWith('mcp:')),
    ...shared(publicUrl),
  }
}

function shared(publicUrl: string): object {
  return {
    bearer_methods_supported: ['header'],
    resource_name: 'Process Automation Service',
    resource_documentation: `${publicUrl}/docs`,
  }
}
