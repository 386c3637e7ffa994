import { AuditType, type AuditRecord } from '@automation/contract/audit/v1/audit'
import { z } from '@hono/zod-openapi'
import { moment, uuid } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'

/** Names of types as callers know them. */
export const AUDIT_TYPE_NAMES = [
  'PROCESS',
  'MODULE',
  'EXECUTION',
  'VARIABLE',
  'SCHEDULE',
  'DEPENDENCY',
  'STORAGE',
  'SANDBOX',
  'TEAM',
  'TOKEN',
] as const
export type AuditTypeName = (typeof AUDIT_TYPE_NAMES)[number]

export const auditEventRecord = z
  .object({
    id: uuid(),
    type: z.enum(AUDIT_TYPE_NAMES),
    event: z.string().openapi({ description: 'What was done, such as created, updated, started or killed' }),
    entityId: z.string().openapi({ description: 'What it was done to' }),
    user: z.string().openapi({
      description:
        'Who did it, as in createdBy, with subject and issuer behind the name of who has a token of another issuer; system where nobody asked, stranger where an exchange failed and nobody knows who it was',
    }),
    initiatedBy: z
      .string()
      .optional()
      .openapi({ description: 'For whom it was done, where the caller said so in a header' }),
    ip: z.string().optional().openapi({ description: 'The address that the call came from' }),
    createdAt: moment(),
  })
  .openapi('AuditEvent', {
    example: {
      id: samples.id,
      type: 'PROCESS',
      event: 'created',
      entityId: samples.id,
      user: 'ci',
      ip: '192.0.2.10',
      createdAt: samples.at,
    },
  })

/** The type that a filter names. */
export function auditTypeFrom(name: AuditTypeName): AuditType {
  return AuditType[name]
}

/** What was done, and by whom, as JSON. */
export function presentAuditEvent(record: AuditRecord): z.input<typeof auditEventRecord> {
  const { id, event, entityId, user, initiatedBy, ip, time } = record
  const type = AuditType[record.type] as AuditTypeName
  return { id, type, event, entityId, user, initiatedBy, ip, createdAt: presentTime(time) }
}
