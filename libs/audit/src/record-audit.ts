import type { Member } from '@automation/rpc'
import type pg from 'pg'
import { v7 } from 'uuid'
import type { AuditType } from '@automation/contract/audit/v1/audit'

/** Of the table `audit_outbox`, in the order of their meaning, for statements that write a record beside a change of their own. */
export const outboxColumns = 'id, team, type, event, entity_id, actor, initiated_by, ip'

/** A connection at the service's own schema. */
interface AuditWriter {
  query(statement: pg.QueryConfig): Promise<unknown>
}

/**
 * Notes who did what, in the transaction of the change: the record is there when the change is, and not where that is
 * taken back. `client` is at the service's own schema, whose outbox an AuditRelay empties.
 */
export async function recordAudit(client: AuditWriter, who: Member, entry: AuditEntry): Promise<void> {
  const { team, name, initiatedBy, ip } = who
  const { type, event, entityId } = entry
  await client.query({
    name: 'record_audit',
    text: `INSERT INTO audit_outbox (${outboxColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [v7(), team, type, event, entityId, name, initiatedBy ?? null, ip ?? null],
  })
}

/** What was done to something of a team. It names no value, so that no secret gets into it. */
export interface AuditEntry {
  type: AuditType
  event: AuditEvent
  /**
   * The id; of an object its name, of dependencies the language, of a team its slug, of an API token its client id, of keys
   * that sign tokens the id of the present one.
   */
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
  | 'suspended'
  | 'removal_begun'
  | 'removed'
  | 'rerun'
  | 'paused'
  | 'resumed'
  | 'staged'
  | 'install_started'
  | 'installed'
  | 'install_failed'
  | 'discarded'
  | 'rolled_back'
  | 'uploaded'
  | 'signed'
  | 'revoked'
  | 'exchanged'
  | 'exchange_failed'
  | 'keys_rotated'
  | 'keys_ended'
  | 'access_ended'
  | 'child_added'
  | 'child_removed'
  | 'session_opened'
  | 'session_renewed'
  | 'session_closed'
