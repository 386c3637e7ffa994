import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { AnswerHeaders } from '../http/answer.ts'
import { isObject } from '../json/decode.ts'

/** Headers that a process may answer with, and what was dropped of them; or why they can't be sent. */
export type GivenHeaders = { headers: AnswerHeaders; warnings: string[] } | { fault: string }

/** What belongs to the connection or to this gateway, not to the answer. */
const DROPPED = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
])

export interface HeaderRules {
  /** Whether cookies may be set for a domain: one of the names that this gateway is reached by. */
  isOwnHost(domain: string): boolean
  /** One more header that is not the process's to set, in lower case. */
  reserved: string
}

/** Checks the headers that a process returned; their names come back in lower case. */
export function answerHeaders(given: unknown, rules: HeaderRules): GivenHeaders {
  const headers = Object.create(null) as AnswerHeaders
  const warnings: string[] = []
  if (given === undefined || given === null) return { headers, warnings }
  if (!isObject(given)) return { fault: 'The returned headers are no object' }
  for (const [name, value] of Object.entries(given)) {
    const values = headerValues(value)
    if (values === undefined) return { fault: `The returned header ${JSON.stringify(name)} is no text` }
    if (!isHeaderValue(name, '') || !values.every((text) => isHeaderValue(name, text)))
      return { fault: `The returned header ${JSON.stringify(name)} is not valid` }
    const lower = name.toLowerCase()
    if (DROPPED.has(lower) || lower === rules.reserved)
      warnings.push(`The returned header ${name} was dropped: it is not the process's to set`)
    else if (lower === 'set-cookie') keepCookies(values, rules, headers, warnings)
    else if (values.length > 0) headers[lower] = values.length === 1 ? (values[0] as string) : values
  }
  return { headers, warnings }
}

/** Texts of one header; undefined when the value is of a kind that no header has. */
function headerValues(value: unknown): string[] | undefined {
  if (value === null) return []
  if (Array.isArray(value)) {
    const parts = value.map(headerValues)
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? [String(value)]
    : undefined
}

/** Whether a header can be sent as it is: nothing in it ends a line or is no Latin-1. */
export function isHeaderValue(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return false
  }
}

function keepCookies(cookies: string[], rules: HeaderRules, headers: AnswerHeaders, warnings: string[]): void {
  const kept = cookies.filter((cookie) => {
    const domain = /;\s*domain\s*=\s*"?\.?([^;"\s]*)/i.exec(cookie)?.[1]?.toLowerCase()
    if (domain === undefined || domain === '' || rules.isOwnHost(domain)) return true
    warnings.push(`A returned cookie for the domain ${domain} was dropped`)
    return false
  })
  if (kept.length > 0) headers['set-cookie'] = kept
}
