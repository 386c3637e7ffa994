import type { Contract } from '../contract/contract.ts'
import { leakIn } from '../client/leaks.ts'
import type { Problem } from '../client/records.ts'

/** One request that no well-behaved client sends, and what may come back. */
export interface Attempt {
  /** What kind of fault it has; the report counts by it. */
  fault: string
  method: string
  /** From the root of the host, sent as it is. */
  path: string
  headers: Record<string, string | string[]>
  body?: string | Uint8Array
  /** Instead of all above: these bytes on a socket. */
  raw?: string | Uint8Array
  /**
   * `refused`: only a 4xx is right. `any`: it may be accepted as well; then whatever it made is removed afterwards.
   */
  expect: 'refused' | 'any'
  /** The status, where it is known. */
  status?: readonly number[]
  /** Pointers of faults of which at least one must be named. */
  paths?: readonly string[]
}

/** What came back; status 0 where the connection was closed without an answer. */
export interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** What is wrong with the reply to an attempt, in words; empty where nothing is. */
export function faultsOfReply(attempt: Attempt, reply: Reply, contract: Contract): string[] {
  const { status, text } = reply
  if (status === 0) return attempt.raw === undefined ? ['the connection was closed without an answer'] : []
  const faults: string[] = []
  // What process code has failed with is its own word.
  const leak = leakIn(status < 400 || isRunThatFailed(reply) ? '' : text)
  if (leak !== undefined) faults.push(`it betrays the inside: ${leak}`)
  if (status >= 500 && !isRunThatFailed(reply) && attempt.status?.includes(status) !== true)
    faults.push(`it answered ${status}`)
  if (attempt.expect === 'refused' && status < 400) faults.push(`it was accepted with ${status}`)
  const judged = status < 500 && (status >= 400 || attempt.expect === 'any')
  if (attempt.status && judged && !attempt.status.includes(status))
    faults.push(`it answered ${status} instead of ${attempt.status.join(' or ')}`)
  if (status >= 400 && attempt.method !== 'HEAD') faults.push(...faultsOfProblem(attempt, reply))
  if (attempt.raw === undefined) faults.push(...faultsByDocument(attempt, reply, contract))
  return faults
}

function faultsByDocument({ method, path }: Attempt, { status, headers, text }: Reply, contract: Contract): string[] {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  )
  // Segments of dots lead elsewhere.
  const { pathname } = new URL(`http://host${path}`)
  return contract.faultsOf(method, pathname, { status, headers: new Headers(given), text })
}

/** The only 5xx that are right: a run that failed, told in problem form with its execution. */
function isRunThatFailed({ status, text }: Reply): boolean {
  return status === 500 && (problemOf(text)?.executionId ?? '') !== ''
}

function faultsOfProblem(attempt: Attempt, { status, headers, text }: Reply): string[] {
  const faults: string[] = []
  const type = String(headers['content-type'] ?? '')
  if (!type.startsWith('application/problem+json')) faults.push(`its media type is ${type || 'missing'}`)
  const problem = problemOf(text)
  if (!problem) return [...faults, 'its body is no JSON object']
  for (const name of ['type', 'title', 'detail', 'instance', 'message', 'code', 'requestId'] as const)
    if (typeof problem[name] !== 'string' || problem[name] === '') faults.push(`it lacks ${name}`)
  if (problem.status !== status) faults.push(`its status is ${problem.status} in the body`)
  if (problem.message !== problem.detail) faults.push('message and detail differ')
  if (problem.requestId !== headers['x-request-id'] && attempt.raw === undefined)
    faults.push('its requestId is not that of the header')
  if (status === 401 && headers['www-authenticate'] === undefined && !attempt.path.endsWith('/auth/token'))
    faults.push('401 without WWW-Authenticate')
  if (status === 405 && headers['allow'] === undefined) faults.push('405 without Allow')
  if ((status === 429 || status === 503) && headers['retry-after'] === undefined)
    faults.push(`${status} without Retry-After`)
  return [...faults, ...faultsOfPaths(attempt, problem)]
}

function faultsOfPaths({ paths }: Attempt, problem: Problem): string[] {
  const named = problem.errors ?? []
  if (
    !Array.isArray(named) ||
    named.some(({ path, message }) => !/^(\/.*)?$/s.test(path) || typeof message !== 'string' || message === '')
  )
    return ['its errors are malformed']
  if (!paths || problem.status !== 400) return []
  const hit = named.some(({ path }) =>
    paths.some((expected) => path === expected || path.startsWith(`${expected}/`) || path.endsWith(expected)),
  )
  return hit
    ? []
    : [`it names ${JSON.stringify(named.map(({ path }) => path))} and none of ${paths.slice(0, 5).join(' ')}`]
}

function problemOf(text: string): Problem | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Problem) : undefined
  } catch {
    return undefined // no JSON, which is for the caller to say
  }
}

/** The attempt in one line, so that it can be repeated by hand. */
export function describeAttempt({ fault, method, path, headers, body, raw }: Attempt): string {
  if (raw !== undefined) return `${fault}: raw ${JSON.stringify(short(raw))}`
  const { authorization, ...others } = headers
  const who = authorization === undefined ? 'without a token' : 'with a token'
  return `${fault}: ${method} ${short(path)} ${who} ${short(JSON.stringify(others))} ${body === undefined ? '' : short(body)}`
}

function short(text: string | Uint8Array): string {
  const words = typeof text === 'string' ? text : Buffer.from(text).toString('latin1')
  return words.length > 300 ? `${words.slice(0, 250)}… (${words.length} characters)` : words
}
