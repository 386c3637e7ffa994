import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { shared } from './shared-system.ts'

/** The two ways in which clients speak: each request for itself, or after a handshake. */
export const eras = ['2026-07-28', '2025'] as const

export type Era = (typeof eras)[number]

export interface McpOptions {
  era?: Era
  /** An API token or an access token. */
  token?: string
  team?: string
  /** Of the address, such as `access=build`. */
  query?: string
  host?: string
  options?: ConstructorParameters<typeof Client>[1]
  fetch?: typeof fetch
}

/** The address of MCP. */
export function mcpUrl({ host = shared.host, team = shared.main.team, query = '' }: McpOptions = {}): URL {
  return new URL(`${host}/api/${team}/mcp${query === '' ? '' : `?${query}`}`)
}

/** A client that has connected. */
export async function connect(given: McpOptions = {}): Promise<Client> {
  const { era = '2026-07-28', token = shared.main.apiToken, options, fetch: by } = given
  const mode = era === '2025' ? ('legacy' as const) : { pin: era }
  const client = new Client({ name: 'suite', version: '1' }, { ...options, versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(mcpUrl(given), { requestInit, ...(by && { fetch: by }) }))
  return client
}

/** The text of a tool's answer. */
export function textOf({ content }: Awaited<ReturnType<Client['callTool']>>): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}
