import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import type { Wish } from './start-request.ts'
import { newExecutionId } from '../execution-id.ts'
import type { CheckedSettings } from './run-settings.ts'
import { shownRequest } from './shown-request.ts'
import type { NewRun } from '../store/new-run-columns.ts'

/** What a run gets of its wish, checked. */
export type RunInput = CheckedSettings & Pick<NewRun, 'parameters' | 'comment'>

/** The run of a wish, with an id of its own. */
export function newRun(wish: Wish, spec: RunSpec, input: RunInput): NewRun {
  const { team, initiatedBy, ip, depth, parentId, scheduleId, rerunOf, traceparent } = wish
  const request = wish.webhook === undefined ? wish.request : shownRequest(wish.webhook, spec.webhook)
  const createdBy = wish.webhook === undefined ? wish.createdBy : (spec.webhook?.username ?? 'webhook')
  const id = newExecutionId()
  const who = { createdBy, initiatedBy, ip, rerunOf }
  return { id, team, spec, ...input, request, ...who, depth, parentId, scheduleId, traceparent }
}
