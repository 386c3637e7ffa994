import { Origin, type StartExecutionRequest } from '@automation/contract/execution/v1/execution'
import type { StartFiringRequest } from '@automation/contract/execution/v1/firing'
import type { ProcessCall } from '@automation/contract/run/v1/run'
import { invalid } from '@automation/errors'
import { memberIn, type CallContext } from '@automation/rpc'
import { readTraceparent } from '@automation/tracing'
import type { RunRights } from '@automation/rpc/run-token'
import { isUuid } from '@automation/contract/forms'
import type { StartRequest } from '../accept/start-request.ts'

/** Of a user, of a webhook's caller, or of who submits a form. */
export function startRequestOf(request: StartExecutionRequest, context: CallContext): StartRequest {
  const { identifier, parameters, comment, settings, webhook, idempotencyKey, draftId } = request
  const { name, initiatedBy, ip } = context.principal
  return {
    team: memberIn(context).team,
    identifier,
    tag: draftId ?? request.tag,
    shownTag: draftId === undefined ? request.tag : '',
    trial: draftId !== undefined,
    origin: originOf(request),
    parameters,
    hasTexts: request.textualParameters,
    checksParameters: request.checksParameters,
    comment,
    settings,
    webhook,
    createdBy: name,
    initiatedBy,
    ip,
    depth: 0,
    traceparent: traceparentIn(context),
    key: idempotencyKey && { key: idempotencyKey.key, bodyHash: idempotencyKey.requestHash },
  }
}

function originOf({ webhook, form }: StartExecutionRequest) {
  if (webhook !== undefined) return Origin.WEBHOOK
  return form ? Origin.FORM : Origin.REST
}

/** Of the scheduler, for a schedule: once for each of its nominal times. */
export function startRequestOfFiring(request: StartFiringRequest, context: CallContext): StartRequest {
  const { processId, tag, parameters, comment, settings, createdBy, initiatedBy } = request
  const { scheduleId, ...key } = firingKey(request)
  return {
    team: memberIn(context).team,
    identifier: processId,
    tag,
    origin: Origin.SCHEDULE,
    parameters,
    comment,
    settings,
    scheduleId,
    createdBy,
    initiatedBy,
    ip: context.principal.ip,
    depth: 0,
    isUnattended: true,
    needsNoVersion: true,
    key,
    traceparent: traceparentIn(context),
  }
}

/** The schedule of a firing, and under what it is known: for long, as who starts them may be away before it asks again. */
export function firingKey({ scheduleId, nominalTimeMs }: Pick<StartFiringRequest, 'scheduleId' | 'nominalTimeMs'>) {
  const id = scheduleId.toLowerCase()
  if (!isUuid(id)) throw invalid('/scheduleId', 'The schedule id is no UUID')
  return { scheduleId: id, scope: `schedule ${id}`, key: String(nominalTimeMs), keptDays: 7 }
}

/** Of a run: once for each call number. */
export function startRequestOfRun(call: ProcessCall, rights: RunRights, context: CallContext): StartRequest {
  const { callNumber, identifier, tag, parameters, comment, settings } = call
  const { team, executionId, depth, createdBy, initiatedBy } = rights
  return {
    team,
    identifier,
    tag,
    origin: Origin.PROCESS,
    parameters,
    comment,
    settings,
    createdBy,
    initiatedBy,
    depth: depth + 1,
    parentId: executionId,
    traceparent: traceparentIn(context),
    key: { scope: `run ${executionId}`, key: String(callNumber) },
  }
}

/** Nothing of another form gets into a row. */
export function traceparentIn({ traceparent }: CallContext): string | undefined {
  return readTraceparent(traceparent) === undefined ? undefined : traceparent
}
