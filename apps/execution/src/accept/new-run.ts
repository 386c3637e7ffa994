import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import type { StartRequest } from './start-request.ts'
import { newExecutionId } from '../execution-id.ts'
import type { CheckedSettings } from './run-input.ts'
import { shownRequest } from './webhook-gate.ts'
import type { NewRun } from '../store/new-run-columns.ts'

/** What a run gets of its start request, checked. */
export type RunInput = CheckedSettings & Pick<NewRun, 'parameters' | 'comment'>

/** The run of a start request, with an id of its own. */
export function newRun(request: StartRequest, spec: RunSpec, input: RunInput): NewRun {
  const { team, initiatedBy, ip, depth, parentId, scheduleId, rerunOf, traceparent } = request
  const { webhook } = request
  const shown = webhook === undefined ? request.request : shownRequest(webhook, spec.webhook)
  const createdBy = webhook === undefined ? request.createdBy : (spec.webhook?.username ?? 'webhook')
  const id = newExecutionId()
  const who = { createdBy, initiatedBy, ip, rerunOf }
  return { id, team, spec, ...input, request: shown, ...who, depth, parentId, scheduleId, traceparent }
}
