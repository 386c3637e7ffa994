import type { IncomingMessage } from 'node:http'

/** The cookie of the console's sessions, by its names at https and at http. It counts at the console alone. */
export const sessionCookieNames = { https: '__Host-pa', http: 'pa' } as const

/** The cookie that an attempt to sign in is kept in, while the issuer has the browser. */
export const flowCookieNames = { https: '__Host-pa-oidc', http: 'pa-oidc' } as const

const names: ReadonlySet<string> = new Set([...Object.values(sessionCookieNames), ...Object.values(flowCookieNames)])

/** Whether a cookie has a name of ours, which nobody else may set. */
export function isSessionCookie(name: string): boolean {
  return names.has(name)
}

/** A Cookie header without ours; empty for nothing. */
export function withoutSessionCookie(header: string): string {
  if (!header.includes('pa')) return header
  const pairs = header.split(';').map((pair) => pair.trim())
  const kept = pairs.filter((pair) => !isSessionCookie(pair.split('=', 1)[0]?.trim() ?? ''))
  return kept.length === pairs.length ? header : kept.join('; ')
}

/** Takes ours out of a request: browsers send it to every port of its host, and process code may see what came. */
export function dropSessionCookie({ headers }: IncomingMessage): void {
  if (headers.cookie === undefined) return
  const kept = withoutSessionCookie(headers.cookie)
  if (kept === '') delete headers.cookie
  else headers.cookie = kept
}

/** The values of all cookies of a name in a Cookie header. */
export function cookieValues(header: string | undefined, name: string): string[] {
  return (header ?? '').split(';').flatMap((pair) => {
    const equals = pair.indexOf('=')
    return equals !== -1 && pair.slice(0, equals).trim() === name ? [pair.slice(equals + 1).trim()] : []
  })
}
