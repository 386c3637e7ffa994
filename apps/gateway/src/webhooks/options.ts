import { invalid } from '@automation/errors'
import { headerText } from '../http/caller.ts'
import type { Exchange } from '../http/exchange.ts'

/** Names of the headers that steer a webhook call, in lower case, and the one that each answer carries. */
export interface WebhookHeaders {
  versionTag: string
  async: string
  initiatedBy: string
  agentPool: string
  comment: string
  executionId: string
}

/** The names under a prefix such as `Svc-`. */
export function webhookHeaders(prefix: string): WebhookHeaders {
  const lower = prefix.toLowerCase()
  return {
    versionTag: `${lower}version-tag`,
    async: `${lower}async`,
    initiatedBy: `${lower}initiated-by`,
    agentPool: `${lower}agent-pool`,
    comment: `${lower}comment`,
    executionId: `${prefix}Execution-ID`,
  }
}

/** What a caller asked for in headers and query. */
export interface WebhookOptions {
  tag: string
  isAsync: boolean
  /** Body of the answer to an asynchronous call; undefined: the usual JSON. */
  asyncResponse: string | undefined
  initiatedBy: string | undefined
  agentPool: string | undefined
  comment: string | undefined
}

/** Query parameters that the process does not get. */
export const STEERING_PARAMETERS: ReadonlySet<string> = new Set(['async', 'async_response'])

/** Reads the options of a call; the query wins over headers. Failure: invalid_input for a flag that is none. */
export function webhookOptions(exchange: Exchange, names: WebhookHeaders): WebhookOptions {
  const query = mayHold(exchange.query) ? new URLSearchParams(exchange.query) : undefined
  const response = query?.get('async_response') ?? undefined
  return {
    tag: headerText(exchange, names.versionTag) ?? '',
    isAsync: flag('async', query?.get('async')) ?? flag(names.async, headerText(exchange, names.async)) ?? false,
    asyncResponse: response === 'false' ? '' : response || undefined,
    initiatedBy: headerText(exchange, names.initiatedBy),
    agentPool: headerText(exchange, names.agentPool),
    comment: headerText(exchange, names.comment),
  }
}

/** Parsing the query is left out where it can hold none of the parameters: `%` may hide one. */
function mayHold(query: string): boolean {
  return query !== '' && (query.includes('async') || query.includes('%'))
}

function flag(name: string, value: string | null | undefined): boolean | undefined {
  if (value == null || value === '') return undefined
  switch (value.toLowerCase()) {
    case 'true':
    case '1':
      return true
    case 'false':
    case '0':
      return false
    default:
      throw invalid(`/${name}`, `${name} must be true or false`)
  }
}
