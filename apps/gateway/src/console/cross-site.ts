import { Failure } from '@automation/errors'
import type { Exchange } from '../http/exchange.ts'

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/** What a page may use an answer as. Whatever a team keeps, none of it is ever a program or a style of the console. */
const harmlessUses = new Set(['', 'empty', 'document', 'image', 'audio', 'video'])

/**
 * Refuses what a page of another origin makes a browser ask, which sends our cookie along: cookies know no ports. A
 * change wants a header that no page of others can set beside the origin. Failure cross_site_request.
 */
export function requireOwnOrigin({ incoming }: Exchange, origin: string): void {
  const { method = '', headers } = incoming
  const site = headers['sec-fetch-site'] ?? 'none'
  if (site !== 'same-origin' && site !== 'none') throw crossSite(origin)
  if (!harmlessUses.has(headers['sec-fetch-dest']?.toString() ?? '')) throw crossSite(origin)
  if (safeMethods.has(method)) return
  if (headers.origin !== origin || headers['x-console'] !== '1') throw crossSite(origin)
}

/** The same for what becomes a WebSocket, where a page can set no header. Failure cross_site_request. */
export function requireOwnSocket({ incoming }: Exchange, origin: string): void {
  if (incoming.headers.origin !== origin) throw crossSite(origin)
}

function crossSite(origin: string): Failure {
  const text = `This may be asked from the pages of the console at ${origin} alone, with the header X-Console: 1`
  return new Failure('permission_denied', 'cross_site_request', text)
}
