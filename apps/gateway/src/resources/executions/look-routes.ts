import {
  ExecutionService,
  type ExecutionSource,
  type Waiting,
  type WebhookRequest,
} from '@automation/contract/execution/v1/execution'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { RawJson } from '../../http/json.ts'
import { int32, languageName, moment, presentLanguage, uuid } from '../../rest/fields.ts'
import { executionId, onePage, pagingFields, presentPage } from '../../rest/parameters.ts'
import { writtenObject } from '../../rest/shared-fields.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'
import { executionRecord, presentExecution } from './record.ts'

const requestRecord = z
  .object({
    method: z.string(),
    path: z.string(),
    query: writtenObject().openapi({ description: 'A name that came several times has a list' }),
    headers: writtenObject().openapi({ description: 'By their names in lower case' }),
    rawBody: z.string().optional(),
    isBase64: z.boolean().optional().openapi({ description: '`rawBody` is in base64, for it is no text' }),
    receivedAt: moment(),
  })
  .openapi('ExecutionRequest', {
    example: {
      method: 'POST',
      path: '/api/demo/webhooks/greeting',
      query: {},
      headers: { 'content-type': 'application/json' },
      rawBody: JSON.stringify(samples.parameters),
      receivedAt: samples.at,
    },
  })

const waitingRecord = z
  .object({
    waiting: z.boolean(),
    reason: z.string().optional(),
    code: z
      .enum(['team_limit', 'no_runner', 'no_free_slot', 'behind_older', 'packages', 'paused'])
      .optional()
      .openapi({ description: '`paused`: the operator has suspended the team' }),
    since: moment().optional(),
    position: int32()
      .optional()
      .openapi({ description: 'Among the runs of the team in the pool; 1,001 stands for more' }),
    inUse: int32().optional().openapi({ description: 'Runs of the team at its limit, else slots of the pool' }),
    allowed: int32().optional(),
    remedy: z.string().optional().openapi({ description: 'What to do about it' }),
  })
  .openapi('ExecutionWaiting', {
    example: {
      waiting: true,
      reason: 'The team runs 50 at once, its limit',
      code: 'team_limit',
      since: samples.at,
      position: 3,
      inUse: 50,
      allowed: 50,
      remedy: 'Wait until runs of the team end, kill some, or have the operator raise the limit',
    },
  })

const sourceRecord = z
  .object({
    programmingLanguage: languageName(),
    sourceCode: z.string(),
    versionId: uuid().optional(),
    digest: z.string().openapi({ description: 'SHA-256 of the source in UTF-8, in hex' }),
    modules: z
      .array(
        z
          .object({
            name: z.string(),
            versionId: uuid().optional(),
            tag: z.string().optional(),
            sourceCode: z.string(),
          })
          .openapi({ title: 'ExecutionSourceModule' }),
      )
      .openapi({
        description: 'What it imports of modules, directly or through others, as far as that is still what has run',
      }),
  })
  .openapi('ExecutionSource', {
    example: {
      ...samples.code,
      digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      modules: [],
    },
  })

/** What there is to know of one execution beside its record: its request, and what it has started. */
export function executionLookRoutes(api: RestApi, neighbours: Neighbours): void {
  const executions = neighbours.client(ExecutionService)
  const one = { method: 'get', tag: 'Executions', scope: 'read', parameters: { id: executionId } } as const

  api.add(
    {
      ...one,
      path: '/executions/{id}/request',
      summary: 'Read the request of a webhook that an execution was started with',
      success: {
        status: 200,
        description:
          'The request, of a repeated one the first. Headers and query values that are credentials by their names are left out',
        schema: requestRecord,
      },
      refusals: { 404: ['no_request'] },
    },
    async ({ params, context, team }) => {
      const request = await executions.getWebhookRequest({ executionId: params['id'] }, context)
      return { body: presentRequest(request, team) }
    },
  )

  api.add(
    {
      ...one,
      path: '/executions/{id}/waiting',
      summary: 'Read whether an execution waits, for what, and what to do about it',
      success: { status: 200, description: 'What it waits for at this moment', schema: waitingRecord },
    },
    async ({ params, context }) => ({
      body: presentWaiting(await executions.getWaiting({ executionId: params['id'] }, context)),
    }),
  )

  api.add(
    {
      ...one,
      path: '/executions/{id}/source',
      summary: 'Read the source that an execution has run',
      success: {
        status: 200,
        description:
          'That of its version, also where that was deleted, or the one that the process had then; of a process and of a module the last 100 sources are kept',
        schema: sourceRecord,
      },
      refusals: { 404: ['source_not_kept'] },
    },
    async ({ params, context }) => ({
      body: presentSource(await executions.getSource({ executionId: params['id'] }, context)),
    }),
  )

  api.add(
    {
      ...one,
      path: '/executions/{id}/children',
      summary: 'List the executions that the code of this one has started, newest first',
      query: z.object(pagingFields),
      success: onePage('executions', 'ExecutionChildrenPaginatedResult', executionRecord),
    },
    async ({ params, query, context }) => {
      const list = await executions.searchExecutions({ page: query, parentId: params['id'] }, context)
      return { body: presentPage(query, list.page, list.executions.map(presentExecution)) }
    },
  )
}

const utf8 = new TextDecoder()

function presentWaiting(given: Waiting): z.input<typeof waitingRecord> {
  const { waiting, reason, code, since, position, inUse, allowed, remedy } = given
  const known = code as z.input<typeof waitingRecord>['code']
  return { waiting, reason, code: known, since: since && presentTime(since), position, inUse, allowed, remedy }
}

function presentSource(source: ExecutionSource): z.input<typeof sourceRecord> {
  const { language, sourceCode, versionId, digest, modules } = source
  return {
    programmingLanguage: presentLanguage(language),
    sourceCode,
    versionId,
    digest,
    modules: modules.map((module) => ({
      name: module.name,
      versionId: module.versionId,
      tag: module.tag,
      sourceCode: module.sourceCode,
    })),
  }
}

function presentRequest(request: WebhookRequest, team: string): z.input<typeof requestRecord> {
  const { method, processSlug, query, headers, rawBody, isBase64, receivedAt } = request
  return {
    method,
    path: `/api/${team}/webhooks/${processSlug}`,
    query: new RawJson(utf8.decode(query)),
    headers: new RawJson(utf8.decode(headers)),
    rawBody,
    isBase64: isBase64 || undefined,
    receivedAt: presentTime(receivedAt),
  }
}
