import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { AnswerHeaders, Exchange } from '../http/exchange.ts'
import { basicChallenge } from '../http/problem.ts'
import { isOriginWide } from '../http/origin-wide-headers.ts'
import { isSessionCookie } from '../http/session-cookie.ts'
import { readSetCookie, setCookieText } from '../http/set-cookie.ts'
import { isObject } from '../http/json.ts'
import type { WebhookTarget } from './webhook-call.ts'
import { sandboxedPolicy } from './content-policy.ts'

/** Headers that a process may answer with, and what was dropped of them; or why they can't be sent. */
type GivenHeaders = { headers: AnswerHeaders; warnings: string[] } | { fault: string }

/** What belongs to the connection or to this gateway, not to the answer; and what leads a reader away unasked. */
const DROPPED = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'refresh',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
])

/** What a browser asks for a user name and a password for, or hands them out to by itself. */
const PASSWORD_SCHEME = /(?:^|[\s,])(?:basic|digest|hoba|mutual|negotiate|ntlm)(?:[\s,]|$)/i

/** More than HTTP clients and proxies take; each character is looked at several times. */
const MAX_CHARACTERS = 64 * 1024

export interface HeaderRules {
  /** Whether cookies may be set for a domain: one of the names that this gateway is reached by. */
  isOwnHost(domain: string): boolean
  /** One more header that is not the process's to set, in lower case. */
  reserved: string
  /** Of the webhook's address, as a browser sees it: its cookies are for this path alone. */
  path: string
  /** The challenge that asks for the user name and password of this webhook and of no other. */
  challenge: string
  /** Whether other teams' answers come from the same host, so that no answer may be a page of it. */
  sharesHost: boolean
}

/** Checks the headers that a process returned; their names come back in lower case. */
export function answerHeaders(given: unknown, rules: HeaderRules): GivenHeaders {
  const headers = Object.create(null) as AnswerHeaders
  const warnings: string[] = []
  if (given === undefined || given === null) return { headers, warnings }
  if (!isObject(given)) return { fault: 'The returned headers are no object' }
  const policies: string[] = []
  let characters = 0
  for (const [name, value] of Object.entries(given)) {
    const values = headerValues(value)
    characters += (values ?? ['']).reduce((sum, text) => sum + name.length + text.length, name.length)
    if (characters > MAX_CHARACTERS)
      return { fault: `The returned headers have more than ${MAX_CHARACTERS} characters` }
    if (values === undefined)
      return { fault: `The returned header ${JSON.stringify(name)} is neither a text nor a list of texts` }
    if (!isHeaderValue(name, '') || !values.every((text) => isHeaderValue(name, text)))
      return { fault: `The returned header ${JSON.stringify(name)} is not valid` }
    const lower = name.toLowerCase()
    if (DROPPED.has(lower) || isOriginWide(lower) || lower === rules.reserved)
      warnings.push(`The returned header ${name} was dropped: it is not the process's to set`)
    else if (lower === 'set-cookie') keepCookies(values, rules, headers, warnings)
    else if (lower === 'content-security-policy') policies.push(...values)
    else if (lower === 'www-authenticate') keepChallenges(values, rules, headers, warnings)
    else if (values.length > 0) headers[lower] = values.length === 1 ? (values[0] as string) : values
  }
  if (policies.length > 0) keepPolicies(policies, rules, headers, warnings)
  return { headers, warnings }
}

/** Texts of one header; undefined when the value is of a kind that no header has. */
function headerValues(value: unknown): string[] | undefined {
  const values = (Array.isArray(value) ? value : [value]).filter((one) => one !== null)
  return values.every(isHeaderText) ? values.map(String) : undefined
}

function isHeaderText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
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

/** Cookies go to the webhook that has set them, and to nothing else on this host. */
function keepCookies(cookies: string[], rules: HeaderRules, headers: AnswerHeaders, warnings: string[]): void {
  const kept: string[] = []
  for (const text of cookies) {
    const cookie = readSetCookie(text)
    const { name, domain } = cookie
    if (domain !== undefined && !rules.isOwnHost(domain))
      warnings.push(`A returned cookie for the domain ${domain} was dropped`)
    else if (/^__host-/i.test(name))
      warnings.push(`The returned cookie ${name} was dropped: such a name is for cookies of the whole host`)
    else if (isSessionCookie(name))
      warnings.push(`The returned cookie ${name} was dropped: such a name is the service's own`)
    else kept.push(setCookieText({ ...cookie, path: rules.path }))
  }
  if (kept.length > 0) headers['set-cookie'] = kept
}

function keepPolicies(policies: string[], rules: HeaderRules, headers: AnswerHeaders, warnings: string[]): void {
  const { value, warnings: left } = rules.sharesHost
    ? sandboxedPolicy(policies)
    : { value: policies.join(', '), warnings: [] }
  headers['content-security-policy'] = value
  warnings.push(...left)
}

/** A browser answers a challenge with what it knows for the realm: another's is not to be had by its name. */
function keepChallenges(values: string[], rules: HeaderRules, headers: AnswerHeaders, warnings: string[]): void {
  if (values.length === 0) return
  const asks = values.some((value) => PASSWORD_SCHEME.test(value))
  if (asks && (values.length !== 1 || values[0] !== rules.challenge))
    warnings.push(`The returned WWW-Authenticate became ${rules.challenge}`)
  if (asks) headers['www-authenticate'] = rules.challenge
  else headers['www-authenticate'] = values.length === 1 ? (values[0] as string) : values
}

/** How a gateway is reached, as far as the headers of answers depend on it. */
export interface PublicAddress {
  host: string
  /** What addresses have before the gateway's own path; mostly nothing. */
  path: string
}

/** The host and path that a public URL names. */
export function publicAddress(url: string): PublicAddress {
  const { hostname, pathname } = new URL(url)
  return { host: hostname, path: pathname === '/' ? '' : pathname }
}

/** The rules for the answer of one webhook. */
export class WebhookHeaderRules implements HeaderRules {
  readonly reserved: string
  readonly #exchange: Exchange
  readonly #target: WebhookTarget
  readonly #address: PublicAddress

  constructor(exchange: Exchange, target: WebhookTarget, address: PublicAddress, reserved: string) {
    this.reserved = reserved
    this.#exchange = exchange
    this.#target = target
    this.#address = address
  }

  isOwnHost(domain: string): boolean {
    const { host } = this.#exchange.incoming.headers
    return domain === this.#address.host || domain === host?.replace(/:\d+$/, '').toLowerCase()
  }

  get path(): string {
    return `${this.#address.path}${this.#exchange.path}`
  }

  get challenge(): string {
    return basicChallenge(realmOf(this.#target))
  }

  get sharesHost(): boolean {
    return !this.#exchange.isTeamHost
  }
}

/** The realm of one webhook alone, so that no browser shows its password to another. */
export function realmOf(target: WebhookTarget | 'nothing'): string {
  return target === 'nothing' ? 'webhook' : `webhook ${target.team}/${target.identifier}`
}
