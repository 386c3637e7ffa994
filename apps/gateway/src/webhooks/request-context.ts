import type { IncomingHttpHeaders } from 'node:http'
import type { QueryRecord } from '../rest/query-record.ts'
import type { Payload } from './payload.ts'

export interface Credentials {
  username: string
  password: string
}

/** The credentials of an `Authorization: Basic` header; undefined when there are none that can be read. */
export function basicCredentials(header: string | undefined): Credentials | undefined {
  if (header === undefined || !isBasic(header)) return undefined
  const text = Buffer.from(header.slice(6).trim(), 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon === -1 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) }
}

/**
 * The request as process code sees it, as JSON text. Left out are the headers in `hidden`, which steer the call, and
 * `authorization`: only who knows whether the webhook has credentials of its own can tell whether the process may see it.
 */
export function requestContext(
  method: string,
  headers: IncomingHttpHeaders,
  hidden: ReadonlySet<string>,
  query: QueryRecord,
  payload: Payload,
): string {
  const visible = Object.create(null) as Record<string, string | string[] | undefined>
  for (const name in headers) {
    if (hidden.has(name) || name === 'authorization') continue
    visible[name] = headers[name]
  }
  const { rawBody, isBase64 } = payload
  return JSON.stringify({ headers: visible, query, method, rawBody, isBase64: isBase64 || undefined })
}

function isBasic(header: string): boolean {
  return header.length > 6 && header.slice(0, 6).toLowerCase() === 'basic '
}
