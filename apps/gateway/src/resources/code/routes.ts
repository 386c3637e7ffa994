import { CodeService } from '@automation/contract/catalog/v1/code'
import { ExecutionService, Status, type LogEntry } from '@automation/contract/execution/v1/execution'
import { asFailure, Failure } from '@automation/errors'
import { ownContext, type CallContext, type Client, type Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import type { GatewayConfig } from '../../config.ts'
import { callContext } from '../../http/caller.ts'
import type { Call } from '../../rest/operation.ts'
import { type RestApi, type RestDependencies, withFaultsAt } from '../../rest/rest-api.ts'
import { SyncRuns, unfinished } from '../executions/sync-runs.ts'
import { codeRunValues, pointerInCode, runCodeInput, takenProcess } from './input.ts'
import { codeRunRecord, presentCodeRun, presentOwner, whoamiRecord } from './record.ts'

interface CodeRoutesDependencies extends Pick<RestDependencies, 'report'> {
  neighbours: Neighbours
  config: GatewayConfig
}

const logPage = 1000

/** At the root of the host, by an API token alone: who it is of, and runs of code that is not saved. */
export function codeRoutes(api: RestApi, { neighbours, config, report }: CodeRoutesDependencies): void {
  const executions = neighbours.client(ExecutionService)
  const code = neighbours.client(CodeService)
  const syncRuns = new SyncRuns(neighbours, config.syncWaitMaxMs)
  const idHeader = `${config.headerPrefix}Execution-ID`
  const shared = { atRoot: true, tag: 'Code' }
  const apiToken = z.string().openapi({ description: 'An API token, which also says for which team' })
  const credentials = {
    401: ['api_token_missing', 'api_token_invalid'],
    403: ['forbidden', 'scope_missing', 'team_suspended'],
  }

  api.add(
    {
      ...shared,
      open: true,
      method: 'get',
      path: '/run/whoami',
      summary: 'Who an API token is of',
      headers: z.object({ 'x-api-token': apiToken }),
      success: { status: 200, description: 'Its team and its name', schema: whoamiRecord },
      refusals: credentials,
    },
    async ({ principal }) => ({ body: presentOwner(principal) }),
  )

  api.add(
    {
      ...shared,
      scope: 'run',
      alsoScope: 'build',
      method: 'post',
      path: '/run',
      summary: 'Run code as a process of its own, and wait for the end; needs the scope build, too',
      body: runCodeInput,
      headers: z.object({
        'x-api-token': apiToken,
        [`${config.headerPrefix}Initiated-By`]: z.string().optional().openapi({ description: 'Recorded for audit' }),
      }),
      success: {
        status: 200,
        description: 'The run, which may have failed',
        schema: codeRunRecord,
        headers: { [idHeader]: 'Execution id' },
      },
      refusals: {
        ...credentials,
        400: ['limit_reached', 'slug_taken'],
        404: ['process_not_found', 'execution_not_found'],
        408: ['execution_timeout'],
        413: ['parameters_too_large', 'run_too_large'],
        429: ['execution_rejected'],
      },
      timeoutMs: syncRuns.timeoutMs,
    },
    async (call) => {
      const { body, bodyText, exchange } = call
      const context = contextOf(call, syncRuns.timeoutMs)
      const start = codeRunValues(body, bodyText)
      const { processId, useId } = await withFaultsAt(code.takeProcess(takenProcess(body), context), pointerInCode)
      let runGoesOn = true
      try {
        const outcome = await withFaultsAt(syncRuns.run({ identifier: processId, ...start }, context), pointerInCode)
        const { executionId: id, status } = outcome
        exchange.executionId = id
        if (status !== Status.FINISHED && status !== Status.ERROR && status !== Status.KILLED)
          throw unfinished(outcome, true)
        runGoesOn = false
        const read = async () => {
          const record = await executions.getExecution({ id }, context)
          return presentCodeRun(record, outcome.returnValue, await wholeLog(executions, id, context))
        }
        return { body: await read().catch((error: unknown) => failWith(id, error)), headers: { [idHeader]: id } }
      } catch (error) {
        if (isRefused(asFailure(error))) runGoesOn = false
        throw error
      } finally {
        // Not by the caller's own time: it may be over, or the caller gone.
        const release = code.releaseProcess({ useId, runGoesOn }, ownContext(context.principal, config.callTimeoutMs))
        await release.catch((error: unknown) => report(asFailure(error), exchange))
      }
    },
  )
}

/** By what the caller wrote, so that there is no run. */
function isRefused({ kind, executionId }: Failure): boolean {
  return executionId === undefined && (kind === 'invalid_argument' || kind === 'not_found' || kind === 'too_large')
}

/** The run has been, so that whoever asks again has to know of it. */
function failWith(executionId: string, error: unknown): never {
  const { kind, code, message } = asFailure(error)
  throw new Failure(kind, code, message, { executionId, cause: error })
}

/** The context of the calls of a run: started by whom the options name, where they do. */
function contextOf({ exchange, principal, body }: Call<unknown, z.output<typeof runCodeInput>>, timeoutMs: number) {
  const initiatedBy = body.options?.initiatedBy ?? undefined
  return callContext(exchange, initiatedBy === undefined ? principal : { ...principal, initiatedBy }, timeoutMs)
}

/** All lines of a run that has ended; there are no more than the limits of a run allow. */
async function wholeLog(
  executions: Client<typeof ExecutionService>,
  executionId: string,
  context: CallContext,
): Promise<LogEntry[]> {
  const lines: LogEntry[] = []
  for (let page = 0, more = true; more; page += 1) {
    const list = await executions.listLogs({ executionId, page: { page, limit: logPage } }, context)
    lines.push(...list.entries)
    more = list.page?.hasNextPage === true && list.entries.length > 0
  }
  return lines
}
