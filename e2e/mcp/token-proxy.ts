import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening } from '@automation/testing/listening'

/**
 * The conformance tool calls tools by names of its own; those of processes begin with `run_`, and slugs have hyphens. The
 * names are the same but for that.
 */
const names = /\b(?:test_[a-z_]+|json_schema_2020_12_tool)\b/g
const toolNames = /\brun_((?:test|json-schema)-[a-z0-9-]+)/g

/** Where a program finds MCP that can be told no token, or would show it in its arguments. */
export interface TokenProxy {
  url: string
  origin: string
  /** From now on requests go to `target`, with the token. */
  lead(target: URL, token: string): void
  close(): Promise<void>
}

/** Opens a proxy on loopback that adds a token, and changes the names of tools. */
export async function openTokenProxy(): Promise<TokenProxy> {
  let to: { target: URL; token: string } | undefined
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing))
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (to === undefined) return outgoing.destroy()
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces)
      .toString()
      .replaceAll(names, (name) => `run_${name.replaceAll('_', '-')}`)
    const { 'content-length': _, ...given } = incoming.headers
    const headers = { ...given, authorization: `Bearer ${to.token}`, 'content-length': Buffer.byteLength(body) }
    const sent = request(to.target, { method: incoming.method, headers }, (answer) => {
      const { 'content-length': __, ...passed } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, passed)
      answer.setEncoding('utf8').on('data', (text: string) => {
        outgoing.write(text.replaceAll(toolNames, (___, name: string) => name.replaceAll('-', '_')))
      })
      answer.on('end', () => outgoing.end())
    })
    sent.on('error', () => outgoing.destroy())
    outgoing.on('close', () => sent.destroy())
    sent.end(body)
    return undefined
  }
  const { url: origin, close } = await listening(server)
  return {
    url: `${origin}/mcp`,
    origin,
    lead: (target, token) => {
      to = { target, token }
    },
    close,
  }
}
