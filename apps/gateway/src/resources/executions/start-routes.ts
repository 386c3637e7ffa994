import { ExecutionService } from '@automation/contract/execution/v1/execution'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import type { GatewayConfig } from '../../config.ts'
import { RawJson } from '../../json/raw-json.ts'
import type { Call } from '../../rest/operation.ts'
import { executionId, processIdentifier } from '../../rest/path-parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { executeProcessInput, idempotencyKey, refuseBareParameters, startRequest, type StartRequest } from './input.ts'
import { executionIdRecord } from './record.ts'
import { returnedText, SyncRuns } from './sync-runs.ts'

const JSON_TYPES = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const

const REPLAYED = { 'Idempotency-Replayed': 'true where the key was known and nothing was started' }

/** What starts runs: execute, execute-sync, rerun. */
export function runRoutes(api: RestApi, neighbours: Neighbours, config: GatewayConfig): void {
  const executions = neighbours.client(ExecutionService)
  const syncRuns = new SyncRuns(neighbours, config.syncWaitMaxMs)
  const idHeader = `${config.headerPrefix}Execution-ID`
  const locationOf = (team: string, id: string) => `${config.publicUrl}/api/${team}/rest/executions/${id}`
  const shared = {
    tag: 'Executions',
    parameters: { identifier: processIdentifier },
    body: executeProcessInput,
    bodyOptional: true,
    refusals: {
      400: ['invalid_parameters'],
      404: ['version_not_found'],
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

  api.add(
    {
      ...shared,
      method: 'post',
      path: '/processes/{identifier}/execute',
      summary: 'Start a process',
      success: {
        status: 202,
        description: 'The execution is stored',
        schema: executionIdRecord,
        headers: { [idHeader]: 'Execution id', Location: 'Address of the execution', ...REPLAYED },
      },
      refusals: { ...shared.refusals, 409: ['idempotency_key_reused'] },
    },
    async (call) => {
      const started = await executions.startExecution(startOf(call), call.context)
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
      method: 'post',
      path: '/processes/{identifier}/execute-sync',
      summary: 'Run a process and wait for its value',
      success: {
        status: 203,
        description: 'What the process returned',
        schema: z
          .unknown()
          .openapi({ type: [...JSON_TYPES], additionalProperties: true, items: {}, example: { hello: 'Ada' } }),
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
      const outcome = await syncRuns.run(startOf(call), call.context)
      call.exchange.executionId = outcome.executionId
      if (outcome.replayed) call.exchange.outgoing.setHeader('Idempotency-Replayed', 'true')
      return {
        body: new RawJson(returnedText(outcome, { mayRead: true })),
        headers: executionHeaders(idHeader, outcome),
      }
    },
  )

  api.add(
    {
      method: 'post',
      path: '/executions/{id}/rerun',
      tag: 'Executions',
      summary: 'Start a new execution with the same parameters and settings',
      parameters: { id: executionId },
      success: {
        status: 202,
        description: 'The id of the new execution',
        schema: z.string(),
        headers: { [idHeader]: 'Execution id', Location: 'Address of the execution' },
      },
      refusals: {
        400: ['invalid_parameters'],
        404: ['process_not_found', 'version_not_found'],
        413: ['run_too_large'],
      },
    },
    async ({ params, context, exchange, team }) => {
      const started = await executions.rerunExecution({ id: params['id'] }, context)
      exchange.executionId = started.executionId
      const headers = { [idHeader]: started.executionId, Location: locationOf(team, started.executionId) }
      return { body: started.executionId, headers }
    },
  )
}

function startOf(call: Call<unknown, z.output<typeof executeProcessInput>>): StartRequest {
  const { exchange, params, body, bodyValue, bodyText, bodyBytes } = call
  refuseBareParameters(body, bodyValue)
  return {
    ...startRequest(params['identifier'] ?? '', body, bodyText),
    idempotencyKey: idempotencyKey(exchange.incoming.headers['idempotency-key'], {
      body: bodyBytes,
      query: exchange.query,
      tag: '',
    }),
  }
}

function executionHeaders(idHeader: string, run: { executionId: string; replayed: boolean }): Record<string, string> {
  return { [idHeader]: run.executionId, ...(run.replayed && { 'Idempotency-Replayed': 'true' }) }
}
