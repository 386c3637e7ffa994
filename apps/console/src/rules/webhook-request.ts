import type { Schemas } from '../api/client.ts'
import { HeaderLineError, headersOf, queryOf } from './header-lines.ts'
import type { SchemeName } from './webhook-schemes.ts'

/** A request as it was typed. */
export interface TypedRequest {
  method: 'GET' | 'POST'
  body: string
  query: string
  headers: string
  scheme: SchemeName | ''
  /** Key of the variable that holds the secret. */
  variable: string
  header: string
}

/** Why what was typed is no request. */
export class RequestFault extends Error {
  readonly field: keyof TypedRequest

  constructor(field: keyof TypedRequest, message: string) {
    super(message)
    this.field = field
  }
}

/** The request that was typed, as the service sends it. A body is sent as it was typed, so that its signature is over just that. */
export function requestOf({
  method,
  body,
  query,
  headers,
  scheme,
  variable,
  header,
}: TypedRequest): Schemas['SendWebhookInput'] {
  const given = headersOrFault(headers)
  const hasType = Object.keys(given).some((name) => name.toLowerCase() === 'content-type')
  return {
    method,
    query: queryOf(query),
    headers: method === 'POST' && !hasType ? { ...given, 'Content-Type': typeOf(body) } : given,
    ...(method === 'POST' && body !== '' && { body }),
    ...(scheme !== '' && {
      signWith: { scheme, variable: variable.trim(), ...(header.trim() && { header: header.trim() }) },
    }),
  }
}

function headersOrFault(lines: string): Record<string, string> {
  try {
    return headersOf(lines)
  } catch (error) {
    if (error instanceof HeaderLineError) throw new RequestFault('headers', error.message)
    throw error
  }
}

/** Text that begins as JSON is meant as JSON, so that the webhook says what is wrong with it. */
export function typeOf(body: string): string {
  return /^\s*[[{"]/.test(body) ? 'application/json' : 'text/plain; charset=utf-8'
}
