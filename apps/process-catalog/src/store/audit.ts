import type { AuditEntry } from '@automation/audit'
import { v7 } from 'uuid'
import type { Author } from './processes.ts'
import type { Rows } from './store.ts'

/** Notes who did what, in the transaction of the change. */
export async function audit(rows: Rows, { team, name, initiatedBy, ip }: Author, entry: AuditEntry): Promise<void> {
  const { type, event, entityId } = entry
  await rows.$executeRaw`
    INSERT INTO audit_records (team, id, type, event, entity_id, actor, initiated_by, ip)
    VALUES (${team}, ${v7()}::uuid, ${type}::smallint, ${event}, ${entityId}, ${name}, ${initiatedBy ?? null}, ${ip ?? null})`
}

/** Notes what is done to all teams: each of them has a record. */
export async function auditInAll(rows: Rows, by: Omit<Author, 'team'>, entry: AuditEntry): Promise<void> {
  const { name, initiatedBy = null, ip = null } = by
  const { type, event, entityId } = entry
  const teams = (await rows.team.findMany({ select: { slug: true } })).map(({ slug }) => slug)
  const ids = teams.map(() => v7())
  await rows.$executeRaw`
    INSERT INTO audit_records (team, id, type, event, entity_id, actor, initiated_by, ip)
    SELECT team, id, ${type}::smallint, ${event}, ${entityId}, ${name}, ${initiatedBy}, ${ip}
      FROM unnest(${teams}::text[], ${ids}::uuid[]) AS given (team, id)`
}

/** Who acts for a team where nobody has asked. */
export function systemOf(team: string): Author {
  return { team, name: 'system' }
}
