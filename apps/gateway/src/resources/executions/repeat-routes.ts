import { ExecutionService } from '@automation/contract/execution/v1/execution'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import type { GatewayConfig } from '../../config.ts'
import { executionId } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { refuseBareParameters, replayInput, rerunInput, rerunValues } from './input.ts'
import { executionIdRecord } from './record.ts'

/** What repeats runs: rerun, replay. */
export function repeatRoutes(api: RestApi, neighbours: Neighbours, config: GatewayConfig): void {
  const executions = neighbours.client(ExecutionService)
  const idHeader = `${config.headerPrefix}Execution-ID`
  const locationOf = (team: string, id: string) => `${config.publicUrl}/api/${team}/rest/executions/${id}`

  api.add(
    {
      method: 'post',
      scope: 'run',
      path: '/executions/{id}/rerun',
      tag: 'Executions',
      summary: 'Start a new execution with the same parameters and settings, or with others where the body has some',
      parameters: { id: executionId },
      body: rerunInput,
      bodyOptional: true,
      success: {
        status: 202,
        description: 'The id of the new execution',
        schema: z.string(),
        headers: { [idHeader]: 'Execution id', Location: 'Address of the execution' },
      },
      refusals: {
        400: ['invalid_parameters'],
        404: ['process_not_found', 'version_not_found'],
        413: ['parameters_too_large', 'run_too_large'],
      },
    },
    async ({ params, body, bodyValue, bodyText, context, exchange, team }) => {
      refuseBareParameters(body, bodyValue, rerunInput)
      const wanted = { id: params['id'], ...rerunValues(body, bodyText) }
      const isOtherwise = Object.values(body).some((value) => value != null)
      const started = isOtherwise
        ? await executions.rerunExecutionOtherwise(wanted, context)
        : await executions.rerunExecution(wanted, context)
      exchange.executionId = started.executionId
      const headers = { [idHeader]: started.executionId, Location: locationOf(team, started.executionId) }
      return { body: started.executionId, headers }
    },
  )

  api.add(
    {
      method: 'post',
      scope: 'run',
      path: '/executions/{id}/replay',
      tag: 'Executions',
      summary: "Start a new execution with the same webhook's request, of the same version or of another",
      parameters: { id: executionId },
      body: replayInput,
      bodyOptional: true,
      success: {
        status: 202,
        description: 'The execution is stored',
        schema: executionIdRecord,
        headers: { [idHeader]: 'Execution id', Location: 'Address of the execution' },
      },
      refusals: {
        400: ['invalid_parameters'],
        404: ['no_request', 'process_not_found', 'version_not_found'],
        413: ['run_too_large'],
      },
    },
    async ({ params, body, context, exchange, team }) => {
      const id = params['id'] ?? ''
      // Others than runs of webhooks have no request that could come again.
      await executions.getWebhookRequest({ executionId: id }, context)
      const started =
        body.tag == null
          ? await executions.rerunExecution({ id }, context)
          : await executions.rerunExecutionOtherwise({ id, tag: body.tag }, context)
      exchange.executionId = started.executionId
      const headers = { [idHeader]: started.executionId, Location: locationOf(team, started.executionId) }
      return { body: { executionId: started.executionId }, headers }
    },
  )
}
