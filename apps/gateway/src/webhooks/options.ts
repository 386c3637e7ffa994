import { invalid } from '@automation/errors'
import { headerText } from '../http/caller.ts'
import type { Exchange } from '../http/exchange.ts'
import type { QueryRecord } from '../http/query-record.ts'

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

/**
 * Reads the options of a call; the query wins over headers. Takes what steers out of `query`, so that the process does not
 * get it. Failure: invalid_input for a flag that is none.
 */
export function webhookOptions(exchange: Exchange, query: QueryRecord, names: WebhookHeaders): WebhookOptions {
  const { async, async_response: responses } = query
  if (async !== undefined) delete query['async']
  if (responses !== undefined) delete query['async_response']
  const response = first(responses)
  return {
    tag: headerText(exchange, names.versionTag) ?? '',
    isAsync: flag('async', first(async)) ?? flag(names.async, headerText(exchange, names.async)) ?? false,
    asyncResponse: response === 'false' ? '' : response || undefined,
    initiatedBy: headerText(exchange, names.initiatedBy),
    agentPool: headerText(exchange, names.agentPool),
    comment: headerText(exchange, names.comment),
  }
}

function first(values: string | string[] | undefined): string | undefined {
  return typeof values === 'string' ? values : values?.[0]
}

function flag(name: string, value: string | undefined): boolean | undefined {
  if (value === undefined || value === '') return undefined
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
