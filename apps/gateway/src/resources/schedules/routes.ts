import { ScheduleService } from '@automation/contract/schedule/v1/schedule'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { text } from '../../rest/fields.ts'
import { pageOf, pagingFields, presentPage } from '../../rest/paging.ts'
import { processIdentifier, processIdFilter, scheduleId } from '../../rest/path-parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { scheduledProcessInput, schedulePatch, scheduleValues, faultsAtInput } from './input.ts'
import { presentListedSchedule, presentSchedule, scheduleRecord } from './record.ts'

const filters = z.object({
  processId: processIdFilter,
  keywords: text().optional().openapi({ description: 'Part of the process name or the comment, in any case' }),
  ...pagingFields,
})

/** Schedules: create, list, read, update, delete, pause, resume. */
export function scheduleRoutes(api: RestApi, neighbours: Neighbours): void {
  const schedules = neighbours.client(ScheduleService)
  const one = { path: '/schedules/{id}', tag: 'Schedules', parameters: { id: scheduleId } }

  api.add(
    {
      method: 'post',
      path: '/processes/{identifier}/schedule',
      tag: 'Schedules',
      summary: 'Run a process by a cron, or once at a time',
      parameters: { identifier: processIdentifier },
      body: scheduledProcessInput,
      success: { status: 201, description: 'The new schedule', schema: scheduleRecord },
      refusals: { 400: ['limit_reached'], 404: ['version_not_found'], 413: ['parameters_too_large'] },
    },
    async ({ params, body, bodyText, context }) => ({
      body: presentSchedule(
        await faultsAtInput(
          schedules.createSchedule({ process: params['identifier'], ...scheduleValues(body, bodyText) }, context),
        ),
      ),
    }),
  )

  api.add(
    {
      method: 'get',
      path: '/schedules',
      tag: 'Schedules',
      summary: 'List schedules, newest first',
      query: filters,
      success: {
        status: 200,
        description: 'One page of schedules',
        schema: pageOf('SchedulesPaginatedResult', scheduleRecord),
      },
    },
    async ({ query, context }) => {
      const { page, limit, processId, keywords } = query
      const list = await schedules.listSchedules(
        { page: { page, limit }, processId, keywords: keywords ?? '' },
        context,
      )
      return { body: presentPage(query, list.page, list.schedules.map(presentListedSchedule)) }
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      summary: 'Read a schedule',
      success: { status: 200, description: 'The schedule', schema: scheduleRecord },
    },
    async ({ params, context }) => ({
      body: presentSchedule(await schedules.getSchedule({ id: params['id'] }, context)),
    }),
  )

  api.add(
    {
      ...one,
      method: 'patch',
      summary: 'Change a schedule (JSON Merge Patch)',
      body: scheduledProcessInput,
      success: { status: 200, description: 'The changed schedule', schema: scheduleRecord },
      refusals: { 404: ['process_not_found', 'version_not_found'], 413: ['parameters_too_large'] },
    },
    async ({ params, body, bodyText, context }) => ({
      body: presentSchedule(
        await faultsAtInput(schedules.updateSchedule({ id: params['id'], ...schedulePatch(body, bodyText) }, context)),
      ),
    }),
  )

  api.add(
    {
      ...one,
      method: 'delete',
      summary: 'Delete a schedule; its runs that have started go on',
      success: { status: 200, description: 'Deleted' },
    },
    async ({ params, context }) => {
      await schedules.deleteSchedule({ id: params['id'] }, context)
      return {}
    },
  )

  api.add(
    {
      ...one,
      method: 'put',
      path: '/schedules/{id}/pause',
      summary: 'Pause a schedule that is active',
      success: { status: 200, description: 'Paused' },
      refusals: { 400: ['invalid_input', 'schedule_paused'] },
    },
    async ({ params, context }) => {
      await schedules.pauseSchedule({ id: params['id'] }, context)
      return {}
    },
  )

  api.add(
    {
      ...one,
      method: 'put',
      path: '/schedules/{id}/resume',
      summary: 'Resume a schedule that is paused; what it missed meanwhile is not run',
      success: { status: 200, description: 'Active again' },
      refusals: { 400: ['invalid_input', 'schedule_active'] },
    },
    async ({ params, context }) => {
      await schedules.resumeSchedule({ id: params['id'] }, context)
      return {}
    },
  )
}
