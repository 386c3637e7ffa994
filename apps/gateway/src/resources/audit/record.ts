import { AuditType, type AuditRecord } from '@automation/contract/audit/v1/audit'
import { presentTime } from '../../rest/time.ts'

/** Names of types as callers know them, in the order of their numbers. */
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

/** The type that a filter names. */
export function auditTypeFrom(name: AuditTypeName): AuditType {
  return AUDIT_TYPE_NAMES.indexOf(name) + AuditType.PROCESS
}

/** What was done, and by whom, as JSON. */
export function presentAuditEvent({ id, type, event, entityId, user, initiatedBy, ip, time }: AuditRecord) {
  const typeName = AUDIT_TYPE_NAMES[type - AuditType.PROCESS]
  return { id, type: typeName, event, entityId, user, initiatedBy, ip, createdAt: presentTime(time) }
}
