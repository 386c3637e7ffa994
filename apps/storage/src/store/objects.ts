import { recordAudit } from '@automation/audit'
import { AuditType } from '@automation/contract/audit/v1/audit'
import type { Member } from '@automation/rpc'
import type pg from 'pg'
import type { Store } from './store.ts'
import { addUsage, lockUsage } from './usage.ts'

/** An object as it is kept. */
export interface ObjectRow {
  name: string
  blobId: string
  /** A bigint as text. */
  size: string
  md5: Buffer
  contentType: string
  createdAt: Date
  updatedAt: Date
}

export const columns = `name, blob_id AS "blobId", size, md5, content_type AS "contentType",
  created_at AS "createdAt", updated_at AS "updatedAt"`

/** Undefined where the team has no file of this name. */
export async function readObject(store: Store, team: string, name: string): Promise<ObjectRow | undefined> {
  const [row] = await store.queryFor<ObjectRow>(team, {
    name: 'read_object',
    text: `SELECT ${columns} FROM objects
           WHERE team = $1 AND name = $2 AND (expires_at IS NULL OR expires_at > now())`,
    values: [team, name],
  })
  return row
}

/** Whether a content of this team can still be read. */
export async function isReadable(store: Store, team: string, blobId: string): Promise<boolean> {
  const rows = await store.query({
    name: 'readable_blob',
    text: 'SELECT id FROM blobs WHERE id = $1 AND team = $2 AND (state = 2 OR (state = 3 AND due_at > now()))',
    values: [blobId, team],
  })
  return rows.length > 0
}

/**
 * Deletes an object with every content that was kept under its name. Gives the blobs, which may be removed now, its
 * own first and then those that links lead to; undefined where there is no such object.
 */
export async function deleteObject(store: Store, asker: Member, name: string): Promise<string[] | undefined> {
  return store.transactionFor(asker.team, async (client) => {
    const blobs = await drop(client, asker.team, name, false)
    if (blobs !== undefined)
      await recordAudit(client, asker, { type: AuditType.STORAGE, event: 'deleted', entityId: name })
    return blobs
  })
}

/** The same for one whose time is over; undefined where it is not. */
export function deleteExpiredObject(store: Store, team: string, name: string): Promise<string[] | undefined> {
  return store.transaction((client) => drop(client, team, name, true))
}

async function drop(
  client: pg.PoolClient,
  team: string,
  name: string,
  ifExpired: boolean,
): Promise<string[] | undefined> {
  await lockUsage(client, team)
  const deleted = await client.query({
    name: 'delete_object',
    text: 'DELETE FROM objects WHERE team = $1 AND name = $2 AND $3 = (expires_at IS NOT NULL AND expires_at <= now())',
    values: [team, name, ifExpired],
  })
  if (deleted.rowCount === 0) return undefined
  const { rows } = await client.query<{ id: string; freed: string }>({
    name: 'drop_blobs',
    text: `WITH dropped AS (
             UPDATE blobs SET state = 3, due_at = now(), counted = 0
             FROM (SELECT id AS was_id, state AS was_state, counted AS before FROM blobs
                   WHERE team = $1 AND name = $2 AND state > 1 FOR UPDATE) was
             WHERE id = was.was_id RETURNING id, was.before AS freed, was_state, linked_until)
           SELECT id, freed FROM dropped ORDER BY was_state, linked_until DESC NULLS LAST`,
    values: [team, name],
  })
  await addUsage(client, team, -rows.reduce((sum, { freed }) => sum + Number(freed), 0))
  return rows.map(({ id }) => id)
}

/**
 * A link to an object is given out. One to this very content (`isDirect`) is out for so long; false where it is not the
 * object's content any more.
 */
export async function noteLink(
  store: Store,
  asker: Member,
  { name, blobId }: ObjectRow,
  { isDirect, expiresInS }: { isDirect: boolean; expiresInS: number },
): Promise<boolean> {
  return store.transactionFor(asker.team, async (client) => {
    if (isDirect && !(await holdForLink(client, blobId, expiresInS))) return false
    await recordAudit(client, asker, { type: AuditType.STORAGE, event: 'signed', entityId: name })
    return true
  })
}

async function holdForLink(client: pg.PoolClient, blobId: string, expiresInS: number): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'note_link',
    text: `UPDATE blobs SET linked_until = greatest(linked_until, now() + $2 * interval '1 s')
           WHERE id = $1 AND state = 2 RETURNING id`,
    values: [blobId, expiresInS],
  })
  return rowCount === 1
}
