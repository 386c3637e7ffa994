import { ExecutionService } from '@automation/contract/execution/v1/execution'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { Failure } from '@automation/errors'
import { z } from '@hono/zod-openapi'
import { mayRead } from '../auth/scopes.ts'
import { RawJson } from '../http/json.ts'
import { flag } from '../resources/executions/filters.ts'
import { executionIdRecord } from '../resources/executions/record.ts'
import { returnedValue } from '../resources/executions/start-routes.ts'
import { returnedText, SyncRuns } from '../resources/executions/sync-runs.ts'
import { linkToken } from '../rest/operation.ts'
import { processIdentifier } from '../rest/parameters.ts'
import type { RestApi, RestDependencies } from '../rest/rest-api.ts'
import { withFiles } from '../webhooks/multipart.ts'
import { MinuteLimits } from './minute-limits.ts'
import type { Forms } from './open-form.ts'
import { formRecord, presentForm } from './record.ts'
import { readSubmission } from './submission.ts'

const SUBMISSIONS_A_MINUTE = 30

interface FormDependencies extends Pick<RestDependencies, 'config' | 'neighbours' | 'budget' | 'report'> {
  forms: Forms
  gateways: () => number
}

/** Forms of processes: what they ask for, and what starts a run of what was submitted. */
export function formRoutes(
  api: RestApi,
  { config, neighbours, budget, report, forms, gateways }: FormDependencies,
): void {
  const executions = neighbours.client(ExecutionService)
  const storage = neighbours.client(StorageService)
  const syncRuns = new SyncRuns(neighbours, config.syncWaitMaxMs)
  const submissions = new MinuteLimits(SUBMISSIONS_A_MINUTE, gateways, tooManySubmissions)
  const rules = { maxBytes: config.bodyMaxBytes, budget }
  const idHeader = `${config.headerPrefix}Execution-ID`
  const shared = {
    besideRest: true,
    alsoByLink: true,
    scope: 'run' as const,
    tag: 'Forms',
    path: '/forms/{slug}',
    parameters: { slug: processIdentifier },
  }
  const refusals = { 401: ['form_token_invalid'], 404: ['version_not_found'] }

  api.add(
    {
      ...shared,
      method: 'get',
      summary: 'What the form of a process asks for',
      success: { status: 200, description: 'The form', schema: formRecord },
      refusals,
    },
    async (call) => {
      const process = await forms.open(call)
      return { body: presentForm(process, await forms.schemaOf(process, call.context)) }
    },
  )

  api.add(
    {
      ...shared,
      method: 'post',
      summary: 'Submit the form of a process, which starts a run; at most 30 times a minute from one address',
      query: z.object({
        wait: flag.openapi({ description: 'true: answer with what the process returns, as execute-sync does' }),
      }),
      headers: z.object({
        'Idempotency-Key': z
          .string()
          .optional()
          .openapi({ description: 'The same key gives the same execution for 24 h' }),
      }),
      content: { 'application/json': z.looseObject({}), 'multipart/form-data': z.looseObject({}) },
      bodyOptional: true,
      success: {
        status: 201,
        description: 'The execution is stored',
        schema: executionIdRecord,
        headers: {
          [idHeader]: 'Execution id',
          'Idempotency-Replayed': 'true where the key was known and nothing was started',
        },
        others: { 203: { text: 'With wait=true: what the process returned', schema: returnedValue } },
      },
      refusals: {
        ...refusals,
        400: ['invalid_parameters', 'limit_reached', 'too_many_files', 'too_many_parts'],
        403: ['team_suspended'],
        408: ['execution_timeout'],
        409: ['idempotency_key_reused', 'result_not_kept'],
        413: ['object_too_large', 'parameters_too_large', 'run_too_large', 'storage_full'],
        429: ['execution_rejected', 'too_many_submissions'],
        500: ['execution_failed', 'execution_killed'],
      },
      timeoutMs: syncRuns.timeoutMs,
    },
    async (call) => {
      const { exchange, context, principal, query } = call
      const process = await forms.open(call)
      // Who has only the link uses up nothing of the team's: many may share an address with it.
      const form = linkToken(exchange) === undefined ? process.id : `link of ${process.id}`
      submissions.count(form, principal.ip ?? '', performance.now())
      const { start, files } = await readSubmission(exchange, process, rules)
      const noted = <T extends { executionId: string; replayed: boolean }>(started: T): T => {
        exchange.executionId = started.executionId
        // On refusals of this call as well.
        if (started.replayed) exchange.outgoing.setHeader('Idempotency-Replayed', 'true')
        return started
      }
      const begun = <T extends { executionId: string; replayed: boolean }>(begin: () => Promise<T>): Promise<T> =>
        withFiles(storage, files, () => context, {
          start: async () => noted(await begin()),
          isReplay: () => exchange.outgoing.hasHeader('Idempotency-Replayed'),
          report: (failure) => report(failure, exchange),
        })
      if (query.wait !== true) {
        const { executionId } = await begun(() => executions.startExecution(start, context))
        return { headers: { [idHeader]: executionId }, body: { executionId } }
      }
      const outcome = await begun(() => syncRuns.run(start, context))
      const headers = { [idHeader]: outcome.executionId }
      return { status: 203, headers, body: new RawJson(returnedText(outcome, { mayRead: mayRead(principal) })) }
    },
  )
}

function tooManySubmissions(retryAfterS: number): Failure {
  const text = `The form takes ${SUBMISSIONS_A_MINUTE} submissions a minute from one address, try again later`
  return new Failure('resource_exhausted', 'too_many_submissions', text, { retryAfterS })
}
