import { ProcessService } from '@automation/contract/catalog/v1/process'
import {
  ExecutionService,
  Status,
  type DeliveredRun,
  type WebhookDelivery,
} from '@automation/contract/execution/v1/execution'
import { Failure, type FailureKind } from '@automation/errors'
import { timestampMs } from '@bufbuild/protobuf/wkt'
import { z } from '@hono/zod-openapi'
import { statusOf } from '../http/problem.ts'
import { unfinished } from '../resources/executions/sync-runs.ts'
import { int32, moment, uuid } from '../rest/fields.ts'
import { processIdentifier } from '../rest/parameters.ts'
import type { RestApi, RestDependencies } from '../rest/rest-api.ts'
import { samples } from '../rest/samples.ts'
import { presentTime } from '../rest/time.ts'
import type { HeaderRules } from './answer-headers.ts'
import { webhookAnswer } from './webhook-answer.ts'

const deliveryRecord = z
  .object({
    id: uuid(),
    at: moment(),
    status: int32().openapi({ description: 'HTTP status of the answer' }),
    executionId: uuid().optional().openapi({ description: 'Absent where nothing was started' }),
    reason: z.string().optional().openapi({ description: 'Why it was refused' }),
    method: z.string(),
    size: z.int().openapi({ format: 'int64', description: 'Bytes of the body' }),
  })
  .openapi('WebhookDelivery', {
    example: {
      id: samples.executionId,
      at: samples.at,
      status: 200,
      executionId: samples.executionId,
      method: 'POST',
      size: 14,
    },
  })

/** What has come to the webhook of a process. */
export function deliveryRoutes(
  api: RestApi,
  { config, neighbours }: Pick<RestDependencies, 'config' | 'neighbours'>,
): void {
  const processes = neighbours.client(ProcessService)
  const executions = neighbours.client(ExecutionService)

  api.add(
    {
      method: 'get',
      scope: 'read',
      tag: 'Processes',
      path: '/processes/{identifier}/webhook/deliveries',
      parameters: { identifier: processIdentifier },
      summary: 'List the last 100 calls of the webhook of a process, newest first',
      success: {
        status: 200,
        description:
          'Calls that were answered, those among them that were refused with the reason. Of a process at most 100 refused ones are kept a minute',
        schema: z.array(deliveryRecord),
      },
    },
    async ({ params, context }) => {
      const { id } = await processes.getProcess({ identifier: params['identifier'] ?? '' }, context)
      const { deliveries } = await executions.listWebhookDeliveries({ processId: id }, context)
      const shown = deliveries.map((delivery) => presentDelivery(delivery, config.syncWaitMaxMs))
      return { body: shown.filter((delivery) => delivery !== undefined) }
    },
  )
}

/** Undefined where there is no answer yet. */
function presentDelivery(
  { id, at, method, bodyBytes, outcome }: WebhookDelivery,
  syncWaitMaxMs: number,
): z.input<typeof deliveryRecord> | undefined {
  const shared = { id, at: presentTime(at), method, size: Number(bodyBytes) }
  if (outcome.case === 'refusal') {
    const { kind, code, reason } = outcome.value
    return { ...shared, status: statusOf(new Failure(kind as FailureKind, code, reason)), reason }
  }
  if (outcome.case === undefined) return undefined
  const status = statusOfRun(outcome.value, { atMs: at === undefined ? 0 : timestampMs(at), syncWaitMaxMs })
  return status === undefined ? undefined : { ...shared, status, executionId: id, reason: outcome.value.explanation }
}

/** The status that a run was answered with, as far as that follows from its record; undefined where its caller waits. */
function statusOfRun(run: DeliveredRun, { atMs, syncWaitMaxMs }: { atMs: number; syncWaitMaxMs: number }) {
  if (run.answeredAtOnce) return 201
  if (run.answeredStatus !== undefined) return run.answeredStatus
  const { status, endedAt, returnValue } = run
  const tookMs = (endedAt === undefined ? Date.now() : timestampMs(endedAt)) - atMs
  const isLate = tookMs > syncWaitMaxMs
  if (endedAt === undefined && !isLate) return undefined
  const outcome = { status: isLate ? Status.RUNNING : status, executionId: '' }
  if (isLate || status !== Status.FINISHED) return statusOf(unfinished(outcome, false))
  const answer = returnValue && webhookAnswer(new TextDecoder().decode(returnValue), () => ANY_HEADERS)
  if (answer === undefined) return 200
  return 'fault' in answer ? 500 : answer.answer.status
}

/** The status depends on no rule but that headers are valid. */
const ANY_HEADERS: HeaderRules = { isOwnHost: () => true, reserved: '', path: '/', challenge: '', sharesHost: false }
