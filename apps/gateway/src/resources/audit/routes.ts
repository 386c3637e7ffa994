import { AuditService } from '@automation/contract/audit/v1/audit'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { text } from '../../rest/fields.ts'
import { onePage, pagingFields, presentPage } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { time } from '../../rest/time.ts'
import { AUDIT_TYPE_NAMES, auditEventRecord, auditTypeFrom, presentAuditEvent, type AuditTypeName } from './record.ts'

const type = z
  .string()
  .optional()
  .transform((value, check) => {
    if (value === undefined || value === '') return undefined
    if (AUDIT_TYPE_NAMES.includes(value as AuditTypeName)) return auditTypeFrom(value as AuditTypeName)
    check.addIssue({ code: 'custom', message: `must be one of ${AUDIT_TYPE_NAMES.join(', ')}` })
    return z.NEVER
  })
  .openapi({ type: 'string', enum: [...AUDIT_TYPE_NAMES] })

const entityId = text().optional().openapi({
  description:
    'The id of what it was done to; of an object its name, of dependencies the language, of a team its slug, of an API token its client id',
})

/** Who did what in the team. */
export function auditEventRoutes(api: RestApi, neighbours: Neighbours): void {
  const records = neighbours.client(AuditService)

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/audit-events',
      tag: 'Audit',
      summary: 'List who did what, newest first',
      query: z.object({ type, entityId, from: time(), to: time(), ...pagingFields }),
      success: onePage('audit events', 'AuditEventsPaginatedResult', auditEventRecord),
    },
    async ({ query, context }) => {
      const { page, limit, from, to } = query
      const list = await records.listAuditRecords(
        { page: { page, limit }, type: query.type, entityId: query.entityId ?? '', from, to },
        context,
      )
      return { body: presentPage(query, list.page, list.records.map(presentAuditEvent)) }
    },
  )
}
