import { TeamService } from '@automation/contract/catalog/v1/team'
import { ExecutionService } from '@automation/contract/execution/v1/execution'
import { ScheduleService } from '@automation/contract/schedule/v1/schedule'
import { asFailure, Failure } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { mayRead } from '../../auth/scopes.ts'
import { z } from '@hono/zod-openapi'
import { onePage, pagingFields, presentPage, scheduleId } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { executionRecord, presentExecution } from '../executions/record.ts'
import { calendarSpan, firingRecord, presentFiring, presentPreview, previewInput, previewRecord } from './firings.ts'

/** When schedules are due: a preview, what has come, a calendar, and a run by hand. */
export function firingRoutes(api: RestApi, neighbours: Neighbours): void {
  const schedules = neighbours.client(ScheduleService)
  const executions = neighbours.client(ExecutionService)
  const teams = neighbours.client(TeamService)

  api.add(
    {
      method: 'post',
      scope: 'read',
      path: '/schedules/preview',
      tag: 'Schedules',
      summary: 'When a cron or a time would be due next; nothing is made',
      body: previewInput,
      success: { status: 200, description: 'The next times', schema: previewRecord },
    },
    async ({ body, context }) => {
      const { cron, dateTime, count } = body
      const zoneId = body.zoneId ?? (await teams.getTeam({}, context)).zoneId
      const request = {
        cron: cron ?? undefined,
        dateTime: dateTime == null ? undefined : { text: dateTime },
        zoneId,
        count: count ?? 0,
      }
      const preview = await schedules.previewTimes(request, context)
      return { body: presentPreview(preview.zoneId, preview.times) }
    },
  )

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/schedules/firings',
      tag: 'Schedules',
      summary: 'What has come and what comes of all schedules, for a calendar',
      query: calendarSpan,
      success: {
        status: 200,
        description: 'The earliest first; at most 10,000, beyond that the span is refused',
        schema: z.array(firingRecord).openapi('ScheduleFirings'),
      },
      refusals: { 400: ['too_many_firings'] },
    },
    async ({ query, context }) => {
      const { firings } = await schedules.listFiringsBetween(query, context)
      return { body: firings.map(presentFiring) }
    },
  )

  const one = { tag: 'Schedules', parameters: { id: scheduleId } }
  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      path: '/schedules/{id}/firings',
      summary: 'What became of the times of a schedule, newest first',
      query: z.object(pagingFields),
      success: onePage('firings', 'ScheduleFiringsPaginatedResult', firingRecord),
    },
    async ({ params, query, context }) => {
      const { page, limit } = query
      const list = await schedules.listFirings({ id: params['id'], page: { page, limit } }, context)
      return { body: presentPage(query, list.page, list.firings.map(presentFiring)) }
    },
  )

  api.add(
    {
      ...one,
      method: 'post',
      scope: 'run',
      path: '/schedules/{id}/run',
      summary: 'Start one run of a schedule now, with its parameters and its tag',
      success: { status: 201, description: 'The new execution', schema: executionRecord },
      refusals: { 400: ['run_active'], 404: ['process_not_found', 'version_not_found'] },
    },
    async ({ params, context, exchange }) => {
      const { executionId } = await schedules.runSchedule({ id: params['id'] }, context)
      exchange.executionId = executionId
      try {
        const body = presentExecution(await executions.getExecution({ id: executionId }, context))
        // Who may not read sees nothing of what the schedule gave.
        const unseen = { parameters: undefined, comment: undefined, tag: undefined, error: undefined }
        return { body: mayRead(context.principal) ? body : { ...body, ...unseen } }
      } catch (error) {
        // It runs: the caller is told its id, and starts no second one.
        const { kind, code, message } = asFailure(error)
        throw new Failure(kind, code, message, { cause: error, executionId })
      }
    },
  )
}
