import type { AuditType } from '@automation/contract/audit/v1/audit'

/** What was done to something of a team. It names no value, so that no secret gets into it. */
export interface AuditEntry {
  type: AuditType
  event: AuditEvent
  /** The id; of an object its name, of dependencies the language, of a team its slug, of an API token its client id. */
  entityId: string
}

/** The words of the interface. */
export type AuditEvent =
  | 'created'
  | 'updated'
  | 'deleted'
  | 'published'
  | 'version_deleted'
  | 'alias_created'
  | 'alias_updated'
  | 'alias_deleted'
  | 'started'
  | 'killed'
  | 'rerun'
  | 'paused'
  | 'resumed'
  | 'staged'
  | 'install_started'
  | 'installed'
  | 'install_failed'
  | 'discarded'
  | 'uploaded'
  | 'signed'
  | 'revoked'
