import { ScheduleService } from '@automation/contract/schedule/v1/schedule'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { text } from '../../rest/fields.ts'
import {
  onePage,
  pagingFields,
  presentPage,
  processIdentifier,
  processIdFilter,
  scheduleId,
} from '../../rest/parameters.ts'
import { emptyReply } from '../../rest/operation.ts'
import { tagged, taggedReply } from '../../rest/edits.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { scheduledProcessInput, schedulePatch, scheduleValues, faultsAtInput } from './input.ts'
import { presentListedSchedule, presentSchedule, presentWrittenSchedule, scheduleRecord } from './record.ts'

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
      scope: 'build',
      path: '/processes/{identifier}/schedule',
      tag: 'Schedules',
      summary: 'Run a process by a cron, or once at a time',
      parameters: { identifier: processIdentifier },
      body: scheduledProcessInput,
      success: tagged({ status: 201, description: 'The new schedule', schema: scheduleRecord }),
      refusals: { 400: ['limit_reached'], 404: ['version_not_found'], 413: ['parameters_too_large'] },
    },
    async ({ params, body, bodyText, context }) => {
      const values = { process: params['identifier'], ...scheduleValues(body, bodyText) }
      const schedule = await faultsAtInput(schedules.createSchedule(values, context))
      return taggedReply(schedule, presentWrittenSchedule(schedule, bodyText, context.principal))
    },
  )

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/schedules',
      tag: 'Schedules',
      summary: 'List schedules, newest first',
      query: filters,
      success: onePage('schedules', 'SchedulesPaginatedResult', scheduleRecord),
    },
    async ({ query, context }) => {
      const { page, limit, processId, keywords } = query
      const list = await schedules.listSchedules(
        { page: { page, limit }, processId, keywords: keywords ?? '' },
        context,
      )
      const records = list.schedules.map((each) => presentListedSchedule(each, context.principal))
      return { body: presentPage(query, list.page, records) }
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      summary: 'Read a schedule',
      success: tagged({ status: 200, description: 'The schedule', schema: scheduleRecord }),
    },
    async ({ params, context }) => {
      const schedule = await schedules.getSchedule({ id: params['id'] }, context)
      return taggedReply(schedule, presentSchedule(schedule, context.principal))
    },
  )

  api.add(
    {
      ...one,
      method: 'patch',
      scope: 'build',
      summary: 'Change a schedule (JSON Merge Patch)',
      body: scheduledProcessInput,
      conditional: true,
      success: tagged({ status: 200, description: 'The changed schedule', schema: scheduleRecord }),
      refusals: { 404: ['process_not_found', 'version_not_found'], 413: ['parameters_too_large'] },
    },
    async ({ params, body, bodyText, ifMatch, context }) => {
      const change = { id: params['id'], ...schedulePatch(body, bodyText), ifMatch }
      const schedule = await faultsAtInput(schedules.updateSchedule(change, context))
      return taggedReply(schedule, presentWrittenSchedule(schedule, bodyText, context.principal))
    },
  )

  api.add(
    {
      ...one,
      method: 'delete',
      scope: 'build',
      summary: 'Delete a schedule; its runs that have started go on',
      conditional: true,
      success: { status: 200, description: 'Deleted' },
    },
    ({ params, ifMatch, context }) => emptyReply(schedules.deleteSchedule({ id: params['id'], ifMatch }, context)),
  )

  api.add(
    {
      ...one,
      method: 'put',
      scope: 'run',
      path: '/schedules/{id}/pause',
      summary: 'Pause a schedule that is active',
      conditional: true,
      success: tagged({ status: 200, description: 'Paused' }),
      refusals: { 400: ['invalid_input', 'schedule_paused'] },
    },
    async ({ params, ifMatch, context }) =>
      taggedReply(await schedules.pauseSchedule({ id: params['id'], ifMatch }, context)),
  )

  api.add(
    {
      ...one,
      method: 'put',
      scope: 'run',
      path: '/schedules/{id}/resume',
      summary: 'Resume a schedule that is paused; what it missed meanwhile is not run',
      conditional: true,
      success: tagged({ status: 200, description: 'Active again' }),
      refusals: { 400: ['invalid_input', 'schedule_active'] },
    },
    async ({ params, ifMatch, context }) =>
      taggedReply(await schedules.resumeSchedule({ id: params['id'], ifMatch }, context)),
  )
}
