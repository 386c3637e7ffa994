import type { RunSettings } from '@automation/contract/execution/v1/execution'
import { Failure, invalid } from '@automation/errors'
import { Faults } from '@automation/errors/faults'
import type { ExecutionConfig } from '../config.ts'
import type { Egress } from '../react/egress.ts'
import { storedText } from '../store/stored-text.ts'

// As of the versions in the catalog.
const commentMaxCharacters = 10_000
const longestShown = 255

export interface CheckedSettings {
  pool: string
  timeoutMs: number
  freshProcess: boolean
  callbackUrl?: string
}

/**
 * Settings as a run gets them; `pools` are those that its team may ask for. Failures invalid_argument at
 * `/settings/agentPoolSlug`, `/settings/timeout`, `/settings/callbackUrl`.
 */
export function checkSettings(
  settings: RunSettings | undefined,
  config: Pick<ExecutionConfig, 'runTimeoutMs' | 'runTimeoutMaxMs'>,
  pools: readonly string[],
  egress: Egress,
): CheckedSettings {
  const faults = new Faults()
  const pool = settings?.agentPool || defaultPool(pools)
  if (!pools.includes(pool))
    faults.add('/settings/agentPoolSlug', `There is no agent pool ${shown(pool)}; there are ${pools.join(', ')}`)
  const timeoutMs = settings?.timeoutMs ?? config.runTimeoutMs
  if (timeoutMs < 100 || timeoutMs > config.runTimeoutMaxMs)
    faults.add('/settings/timeout', `The timeout must be from 100 to ${config.runTimeoutMaxMs} ms`)
  const callbackUrl = settings?.callbackUrl || undefined
  if (callbackUrl !== undefined) faults.of(() => checkCallbackUrl(callbackUrl, egress))
  faults.check()
  return { pool, timeoutMs, freshProcess: settings?.freshProcess ?? false, callbackUrl }
}

/** As it came. Failure invalid_argument at `/comment`. */
export function checkComment(comment: string | undefined): string | undefined {
  const text = comment ?? ''
  // A string has at most as many code points as code units, so most need no count.
  if (text.length > commentMaxCharacters && [...text].length > commentMaxCharacters)
    throw invalid('/comment', `The comment must have at most ${commentMaxCharacters} characters`)
  return comment
}

/** JSON text of an object, as it came. Failures too_large parameters_too_large; invalid_argument at `/parameters`. */
export function checkParameters(parameters: Uint8Array, maxBytes: number): Uint8Array {
  if (parameters.length === 0) return emptyObject
  if (parameters.length > maxBytes)
    throw new Failure('too_large', 'parameters_too_large', `The parameters are larger than ${maxBytes} bytes`)
  if (!isJsonObject(parameters)) throw invalid('/parameters', 'The parameters must be a JSON object')
  return parameters
}

const emptyObject = Buffer.from('{}')
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function isJsonObject(bytes: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(strict.decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false
    throw error
  }
}

/** The pool of runs that name none. */
function defaultPool(pools: readonly string[]): string {
  return pools.includes('default') ? 'default' : (pools[0] ?? 'default')
}

/** What a caller wrote, bounded, for a text that names it. */
function shown(text: string): string {
  return JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown).toWellFormed()}…` : text)
}

function checkCallbackUrl(text: string, egress: Egress): void {
  const path = '/settings/callbackUrl'
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '')
    throw invalid(path, 'The callback URL must be an http or https address')
  if (url.username !== '' || url.password !== '') throw invalid(path, 'The callback URL may not hold credentials')
  if (text.length > 2048) throw invalid(path, 'The callback URL is longer than 2048 characters')
  if (!egress.allows(url.hostname)) {
    const what = `The callback URL names ${shown(url.hostname)}, a private address or one of this machine`
    throw invalid(path, `${what}: callbacks go there only where the setting EGRESS_ALLOW names it`)
  }
}

interface Input {
  parameters: Uint8Array
  comment?: string
  settings?: RunSettings
}

const largestTimeoutMs = 2 ** 31 - 1

/** Whether a run was refused for what it was to have, so that asking again changes nothing. */
export function isRefusal(error: unknown): error is Failure {
  return error instanceof Failure && (error.kind === 'invalid_argument' || error.kind === 'too_large')
}

/** What the record of a refused run shows: what was asked for, without what no record may hold. */
export function refusedInput(
  { parameters, comment, settings }: Input,
  config: Pick<ExecutionConfig, 'runTimeoutMs' | 'parametersMaxBytes'>,
  pools: readonly string[],
): CheckedSettings & { parameters: Uint8Array; comment?: string } {
  return {
    parameters: unlessRefused(() => checkParameters(parameters, config.parametersMaxBytes)) ?? Buffer.from('{}'),
    comment: unlessRefused(() => checkComment(comment)),
    pool: storedText(settings?.agentPool || defaultPool(pools)),
    timeoutMs: Math.min(settings?.timeoutMs ?? config.runTimeoutMs, largestTimeoutMs),
    freshProcess: settings?.freshProcess ?? false,
    callbackUrl: settings?.callbackUrl || undefined,
  }
}

function unlessRefused<T>(check: () => T): T | undefined {
  try {
    return check()
  } catch (error) {
    if (isRefusal(error)) return undefined
    throw error
  }
}
