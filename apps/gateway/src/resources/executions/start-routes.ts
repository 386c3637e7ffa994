import { ExecutionService } from '@automation/contract/execution/v1/execution'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import type { GatewayConfig } from '../../config.ts'
import { mayRead } from '../../auth/scopes.ts'
import { RawJson } from '../../http/json.ts'
import type { Call } from '../../rest/operation.ts'
import { processIdentifier } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { executeProcessInput, idempotencyKey, refuseBareParameters, startRequest, type StartRequest } from './input.ts'
import { draftSlug, keepDraft } from './draft.ts'
import { executionIdRecord } from './record.ts'
import { returnedText, SyncRuns } from './sync-runs.ts'

const JSON_TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const

/** What the code of a run has returned, for the document. */
export const returnedValue = z
  .unknown()
  .openapi({ type: [...JSON_TYPES], additionalProperties: true, items: {}, example: { hello: 'Ada' } })

const REPLAYED = { 'Idempotency-Replayed': 'true where the key was known and nothing was started' }

/** Where runs are started: by the process, or by a draft that none is stored for. */
const ADDRESSES = [
  { at: '/processes/{identifier}', what: 'process', parameters: { identifier: processIdentifier } },
  { at: `/processes/${draftSlug}`, what: 'draft that no process is stored for, or the process of that slug' },
]

/** What runs processes: execute, execute-sync. */
export function startRoutes(api: RestApi, neighbours: Neighbours, config: GatewayConfig): void {
  const executions = neighbours.client(ExecutionService)
  const syncRuns = new SyncRuns(neighbours, config.syncWaitMaxMs)
  const idHeader = `${config.headerPrefix}Execution-ID`
  const locationOf = (team: string, id: string) => `${config.publicUrl}/api/${team}/rest/executions/${id}`
  const shared = {
    tag: 'Executions',
    body: executeProcessInput,
    bodyOptional: true,
    refusals: {
      400: ['invalid_parameters', 'limit_reached'],
      404: ['process_not_found', 'version_not_found'],
      413: ['parameters_too_large', 'run_too_large'],
    },
    headers: z.object({
      [`${config.headerPrefix}Initiated-By`]: z.string().optional().openapi({ description: 'Recorded for audit' }),
      'Idempotency-Key': z
        .string()
        .optional()
        .openapi({ description: 'The same key gives the same execution for 24 h' }),
    }),
  }

  for (const { at, what, ...address } of ADDRESSES) {
    api.add(
      {
        ...shared,
        ...address,
        method: 'post',
        scope: 'run',
        path: `${at}/execute`,
        summary: `Start a ${what}`,
        success: {
          status: 202,
          description: 'The execution is stored',
          schema: executionIdRecord,
          headers: { [idHeader]: 'Execution id', Location: 'Address of the execution', ...REPLAYED },
        },
        refusals: { ...shared.refusals, 409: ['idempotency_key_reused'] },
      },
      async (call) => {
        const started = await executions.startExecution(await startOf(neighbours, call), call.context)
        call.exchange.executionId = started.executionId
        const headers = {
          ...executionHeaders(idHeader, started),
          Location: locationOf(call.team, started.executionId),
        }
        return { body: { executionId: started.executionId }, headers }
      },
    )

    api.add(
      {
        ...shared,
        ...address,
        method: 'post',
        scope: 'run',
        path: `${at}/execute-sync`,
        summary: `Run a ${what} and wait for its value`,
        success: {
          status: 203,
          description: 'What its code returned',
          schema: returnedValue,
          headers: { [idHeader]: 'Execution id', ...REPLAYED },
        },
        refusals: {
          ...shared.refusals,
          408: ['execution_timeout'],
          409: ['idempotency_key_reused', 'result_not_kept'],
          429: ['execution_rejected'],
          500: ['execution_failed', 'execution_killed'],
        },
        timeoutMs: syncRuns.timeoutMs,
      },
      async (call) => {
        const outcome = await syncRuns.run(await startOf(neighbours, call), call.context)
        call.exchange.executionId = outcome.executionId
        if (outcome.replayed) call.exchange.outgoing.setHeader('Idempotency-Replayed', 'true')
        return {
          body: new RawJson(returnedText(outcome, { mayRead: mayRead(call.principal) })),
          headers: executionHeaders(idHeader, outcome),
        }
      },
    )
  }
}

async function startOf(
  neighbours: Neighbours,
  call: Call<unknown, z.output<typeof executeProcessInput>>,
): Promise<StartRequest> {
  const { exchange, params, body, bodyValue, bodyText, bodyBytes } = call
  refuseBareParameters(body, bodyValue)
  const identifier = params['identifier'] ?? draftSlug
  const kept = body.draft == null ? undefined : await keepDraft(neighbours, identifier, body.draft, call)
  return {
    ...startRequest(kept?.processId ?? identifier, body, bodyText),
    // Execution of a release that knows no drafts finds no version of this name, and does not run what is saved.
    checksParameters: exchange.onBehalf !== undefined,
    ...(kept !== undefined && { draftId: kept.draftId, tag: kept.draftId }),
    idempotencyKey: idempotencyKey(exchange.incoming.headers['idempotency-key'], {
      method: 'POST',
      body: bodyBytes,
      query: exchange.query,
      tag: '',
    }),
  }
}

function executionHeaders(idHeader: string, run: { executionId: string; replayed: boolean }): Record<string, string> {
  return { [idHeader]: run.executionId, ...(run.replayed && { 'Idempotency-Replayed': 'true' }) }
}
