import type { ExecutionService } from '@automation/contract/execution/v1/execution'
import { memberIn, principalIn, type Handlers } from '@automation/rpc'
import type { Admission } from '../accept/admission.ts'
import type { ForcedEnds } from '../end/forced-ends.ts'
import type { Outcomes } from '../end/outcomes.ts'
import type { ProcessDeletion } from '../end/process-deletion.ts'
import type { Records } from '../read/records.ts'
import type { Watches } from '../read/watches.ts'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { traceparentIn, startRequestOf } from './start-requests.ts'

export interface ExecutionServiceParts {
  admission: Admission
  outcomes: Outcomes
  records: Records
  forced: ForcedEnds
  deletion: ProcessDeletion
  watches: Watches
}

/** Executions, for the gateway, operators and other services. */
export function executionService(parts: ExecutionServiceParts): Handlers<typeof ExecutionService> {
  const { admission, outcomes, records, forced, deletion, watches } = parts
  return {
    startExecution: async (request, context) => {
      const { id, status, replayed } = await admission.accept(startRequestOf(request, context))
      return { executionId: id, status, replayed }
    },
    runExecution: async ({ start, waitMs }, context) => {
      const accepted = await admission.accept(startRequestOf(start!, context), {})
      return outcomes.of(accepted, waitMs, context.signal)
    },
    awaitExecution: ({ executionId, waitMs }, context) =>
      outcomes.ofAnother(memberIn(context).team, executionId, waitMs, context.signal),
    checkWebhook: async (request, context) => {
      await admission.checkWebhook(startRequestOf(request, context))
      return {}
    },
    getExecution: ({ id }, context) => records.get(memberIn(context).team, id),
    listExecutions: (request, context) => records.list(memberIn(context).team, request),
    listLogs: ({ executionId, page }, context) => records.logs(memberIn(context).team, executionId, page),
    watchExecution: ({ executionId, after }, context) =>
      watches.watch(memberIn(context).team, executionId, after, context.signal),
    killExecution: async ({ id }, context) => {
      await forced.killFor(memberIn(context), id)
      return {}
    },
    rerunExecution: async ({ id }, context) => {
      const request = await records.rerunRequest(memberIn(context).team, id, context.principal, traceparentIn(context))
      const accepted = await admission.accept(request)
      return { executionId: accepted.id, status: accepted.status, replayed: false }
    },
    appendLogs: async ({ executionId, level, message }, context) => {
      await records.appendLog(memberIn(context).team, executionId, level, message)
      return {}
    },
    getOldest: async (_, context) => {
      principalIn(context, 'service')
      return { time: timestampFromMs(await records.oldestMs()) }
    },
    deleteProcessExecutions: async ({ team, processId }, context) => {
      principalIn(context, 'service', 'operator')
      await deletion.delete(team, processId)
      return {}
    },
  }
}
