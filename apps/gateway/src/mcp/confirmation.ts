import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server'
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import { isObject } from '../http/json.ts'
import { ToolFault } from './tool-fault.ts'

/** What is to be deleted. */
export interface Deletion {
  tool: string
  /** What it is called. */
  name: string
  /** The argument `confirm`. */
  confirm: unknown
}

/**
 * What a client is asked before something is deleted; undefined where that is confirmed. A client that can ask people
 * does; any other has to name in `confirm` what it deletes. Fault: not confirmed.
 */
export function confirmation(
  { tool, name, confirm }: Deletion,
  { mcpReq }: ServerContext,
): InputRequiredResult | undefined {
  if (confirm === name) return undefined
  if (confirm !== undefined) throw new ToolFault(`Nothing was deleted: confirm must be ${JSON.stringify(name)}`)
  const answer = inputResponse(mcpReq.inputResponses, 'confirm')
  if (answer.kind === 'elicit') {
    if (acceptedContent(mcpReq.inputResponses, 'confirm')?.['delete'] === true) return undefined
    throw new ToolFault('Nothing was deleted: the person who was asked has not agreed')
  }
  if (!canAsk(mcpReq.envelope))
    throw new ToolFault(
      `Nothing was deleted. Call ${tool} again with confirm: ${JSON.stringify(name)}, once the person you work for has agreed`,
    )
  const requestedSchema = {
    type: 'object' as const,
    properties: { delete: { type: 'boolean' as const, title: `Delete ${name} for good` } },
    required: ['delete'],
  }
  const message = `${tool} deletes ${JSON.stringify(name)} for good. Delete it?`
  return inputRequired({ inputRequests: { confirm: inputRequired.elicit({ mode: 'form', message, requestedSchema }) } })
}

/** Whether a client says that it can ask people; in the revisions of 2025 it would say so in another request. */
function canAsk(envelope: object | undefined): boolean {
  const capabilities = new Map<string, unknown>(Object.entries(envelope ?? {})).get(CLIENT_CAPABILITIES_META_KEY)
  return isObject(capabilities) && isObject(capabilities['elicitation'])
}
