export type { AuditEntry, AuditEvent } from './record-audit.ts'
export { AuditRelay, type AuditRelayOptions } from './audit-relay.ts'
export { outboxColumns, recordAudit } from './record-audit.ts'
