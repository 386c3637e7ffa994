import type {
  ExecutionService,
  ListExecutionsRequest,
  ListLogsRequest,
  RerunExecutionRequest,
  WebhookRefusal,
} from '@automation/contract/execution/v1/execution'
import { Failure, type FailureKind } from '@automation/errors'
import { memberIn, principalIn, type CallContext, type Handlers } from '@automation/rpc'
import type { Admission } from '../accept/admission.ts'
import type { Specs } from '../accept/specs.ts'
import type { WebhookRefusals } from '../accept/webhook-refusals.ts'
import type { ForcedEnds } from '../end/forced-ends.ts'
import type { Outcomes } from '../end/waiters.ts'
import type { ProcessDeletion } from '../end/process-deletion.ts'
import type { AgentPools } from '../read/agent-pools.ts'
import type { Records } from '../read/records.ts'
import type { TeamCapacity } from '../read/team-capacity.ts'
import type { WaitingRuns } from '../read/waiting.ts'
import type { Watches } from '../read/watches.ts'
import { listDeliveries } from '../read/deliveries.ts'
import type { Pools } from '../store/pools.ts'
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt'
import { traceparentIn, startRequestOf } from './start-requests.ts'

interface ExecutionServiceParts {
  admission: Admission
  outcomes: Outcomes
  records: Records
  forced: ForcedEnds
  deletion: ProcessDeletion
  watches: Watches
  waitingRuns: WaitingRuns
  specs: Specs
  agentPools: AgentPools
  teamCapacity: TeamCapacity
  refusals: WebhookRefusals
  pools: Pick<Pools, 'reads'>
}

/** Executions, for the gateway, operators and other services. */
export function executionService(parts: ExecutionServiceParts): Handlers<typeof ExecutionService> {
  const { waitingRuns, specs, admission, outcomes, records, forced, deletion, watches, agentPools, teamCapacity } =
    parts
  const { pools, refusals } = parts
  const listExecutions = (request: ListExecutionsRequest, context: CallContext) =>
    records.list(memberIn(context).team, request)
  const listLogs = (request: ListLogsRequest, context: CallContext) => records.logs(memberIn(context).team, request)
  const rerun = async (wanted: RerunExecutionRequest, context: CallContext) => {
    const { team } = memberIn(context)
    const request = await records.rerunRequest(team, wanted, context.principal, traceparentIn(context))
    const { id, status } = await admission.accept(request)
    return { executionId: id, status, replayed: false }
  }
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
    noteWebhookRefusal: async ({ identifier, method, bodyBytes, refusal, refusedAt }, context) => {
      const call = { method, bodyBytes, refusedAtMs: refusedAt && timestampMs(refusedAt) }
      await admission.noteRefusal(memberIn(context).team, identifier, call, failureOf(refusal))
      return {}
    },
    noteWebhookAnswer: async ({ executionId, status }, context) => {
      await records.noteAnswer(memberIn(context).team, executionId, status)
      return {}
    },
    listWebhookDeliveries: async ({ processId }, context) => {
      const { team } = memberIn(context)
      await refusals.written()
      return { deliveries: await listDeliveries(pools.reads, team, processId) }
    },
    getExecution: ({ id }, context) => records.get(memberIn(context).team, id),
    listExecutions,
    searchExecutions: listExecutions,
    getWebhookRequest: ({ executionId }, context) => records.webhookRequest(memberIn(context).team, executionId),
    getWaiting: ({ executionId }, context) => waitingRuns.look(memberIn(context).team, executionId),
    getSource: ({ executionId }, context) => records.source(memberIn(context).team, executionId, specs),
    readLogs: (request, context) => records.readLogs(memberIn(context).team, request),
    listLogs,
    searchLogs: listLogs,
    watchExecution: ({ executionId, after }, context) =>
      watches.watch(memberIn(context).team, executionId, after, context.signal),
    killExecution: async ({ id }, context) => {
      await forced.killFor(memberIn(context), id)
      return {}
    },
    rerunExecution: rerun,
    rerunExecutionOtherwise: rerun,
    appendLogs: async ({ executionId, level, message, further }, context) => {
      await records.appendLogs(memberIn(context).team, executionId, level, [message, ...further])
      return {}
    },
    getLimits: async (_, context) => ({ limits: await teamCapacity.limits(memberIn(context).team) }),
    listAgentPools: async (_, context) => ({ pools: await agentPools.list(memberIn(context).team) }),
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

/** What a caller of a webhook was refused with. */
function failureOf(refusal: WebhookRefusal | undefined): Failure {
  const { kind = 'internal', code = '', reason = '' } = refusal ?? {}
  return new Failure(kind as FailureKind, code, reason)
}
