import { recordAudit } from '@automation/audit'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { limitReached, unavailable } from '@automation/errors'
import type { Member } from '@automation/rpc'
import type pg from 'pg'
import { columns, type ObjectRow } from './objects.ts'
import type { Store } from './store.ts'
import { addUsage, lockUsage, storageFull } from './usage.ts'

/** A content that is being written. */
export interface Writing {
  blobId: string
  team: string
  name: string
}

export interface Limits {
  teamMaxBytes: number
  leaseMs: number
}

/**
 * The intent, before a byte is stored: a blob that is being written. Failure limit_reached where an object more would be too many for
 * the team; the end of the upload decides.
 */
export async function beginUpload(
  store: Store,
  { blobId, team, name }: Writing,
  { leaseMs, teamMaxObjects }: { leaseMs: number; teamMaxObjects: number | undefined },
): Promise<void> {
  const begun = await store.queryFor(team, {
    name: 'begin_upload',
    text: `INSERT INTO blobs (id, team, name, state, counted, due_at)
           SELECT $1::uuid, $2::text, $3::text, 1, 0, now() + $4 * interval '1 ms'
           WHERE NOT EXISTS (SELECT FROM usage WHERE team = $2 AND objects >= $5)
              OR EXISTS (SELECT FROM objects WHERE team = $2 AND name = $3)
           RETURNING id`,
    values: [blobId, team, name, leaseMs, teamMaxObjects],
  })
  if (begun.length === 0) throw tooManyObjects(teamMaxObjects ?? 0)
}

/**
 * Counts more bytes against the team before they are stored. What the upload will replace does not count twice.
 * Failures: storage_full; unavailable where the upload has been given up.
 */
export async function reserve(store: Store, writing: Writing, bytes: number, limits: Limits): Promise<void> {
  const { blobId, team, name } = writing
  await store.transactionFor(team, async (client) => {
    const used = await lockUsage(client, team)
    const replaced = await currentOf(client, team, name)
    if (used + bytes - (replaced?.size ?? 0) > limits.teamMaxBytes) throw storageFull(limits.teamMaxBytes)
    const { rowCount } = await client.query({
      name: 'reserve',
      text: `UPDATE blobs SET counted = counted + $2, due_at = now() + $3 * interval '1 ms' WHERE id = $1 AND state = 1`,
      values: [blobId, bytes, limits.leaseMs],
    })
    if (rowCount === 0) throw givenUp()
    await addUsage(client, team, bytes)
  })
}

/** The upload goes on. False where it has been given up. */
export async function renewUpload(store: Store, blobId: string, leaseMs: number): Promise<boolean> {
  const rows = await store.query({
    name: 'renew_upload',
    text: `UPDATE blobs SET due_at = now() + $2 * interval '1 ms' WHERE id = $1 AND state = 1 RETURNING id`,
    values: [blobId, leaseMs],
  })
  return rows.length > 0
}

/** What an object may have, and how long what it replaces can be read. */
export interface ObjectLimits {
  teamMaxBytes: number
  teamMaxObjects: number
  graceMs: number
}

export interface Written {
  size: number
  md5: Buffer
  contentType: string
  /** Of the team that it is for. */
  asker: Member
  /** The object is gone then, and in no list before. */
  expiresInS: number | undefined
}

/**
 * The content is stored: it becomes that of its object, and what it replaces goes later. Failures: storage_full;
 * limit_reached; unavailable where the upload has been given up.
 */
export function finishUpload(
  store: Store,
  writing: Writing,
  written: Written,
  limits: ObjectLimits,
): Promise<ObjectRow> {
  return store.transactionFor(writing.team, async (client) =>
    becomeContent(client, await lockUsage(client, writing.team), writing, written, limits),
  )
}

/** The same in a transaction that has locked the team's usage, which is `used`. */
export async function becomeContent(
  client: pg.PoolClient,
  used: number,
  writing: Writing,
  written: Written,
  limits: ObjectLimits,
): Promise<ObjectRow> {
  const { blobId, team, name } = writing
  const counted = await makeCurrent(client, blobId, written.size)
  const replaced = await currentOf(client, team, name)
  if (replaced === undefined) await requireObjectQuota(client, team, limits.teamMaxObjects)
  const row = await putRow(client, writing, written)
  const freed = replaced === undefined ? 0 : await replace(client, team, replaced.blobId, limits)
  const added = written.size - counted - freed
  if (added > 0 && used + added > limits.teamMaxBytes) throw storageFull(limits.teamMaxBytes)
  await addUsage(client, team, added)
  // What the system itself keeps for a while is nothing that somebody did.
  if (written.expiresInS === undefined)
    await recordAudit(client, written.asker, { type: AuditType.STORAGE, event: 'uploaded', entityId: name })
  return row
}

/** Blobs that are contents are so no more, and go with the next sweep. Gives what counts no more. */
export async function dropBlobs(client: pg.PoolClient, team: string, blobIds: string[]): Promise<number> {
  if (blobIds.length === 0) return 0
  const { rows } = await client.query<{ freed: string }>({
    name: 'drop_blobs_by_id',
    text: `UPDATE blobs SET state = 3, due_at = now(), counted = 0
           FROM (SELECT id AS was_id, counted AS before FROM blobs WHERE id = ANY ($1::uuid[]) FOR UPDATE) was
           WHERE id = was.was_id RETURNING was.before AS freed`,
    values: [blobIds],
  })
  const freed = rows.reduce((sum, row) => sum + Number(row.freed), 0)
  await addUsage(client, team, -freed)
  return freed
}

/** A blob that is written is a content from now on. Gives what was counted for it; unavailable where it was given up. */
export async function makeCurrent(client: pg.PoolClient, blobId: string, size: number): Promise<number> {
  const { rows } = await client.query<{ counted: string }>({
    name: 'make_current',
    text: `UPDATE blobs SET state = 2, due_at = NULL, counted = $2
           FROM (SELECT counted AS before FROM blobs WHERE id = $1 FOR UPDATE) reserved
           WHERE id = $1 AND state = 1 RETURNING reserved.before AS counted`,
    values: [blobId, size],
  })
  if (rows[0] === undefined) throw givenUp()
  return Number(rows[0].counted)
}

export async function currentOf(
  client: pg.PoolClient,
  team: string,
  name: string,
): Promise<{ blobId: string; size: number } | undefined> {
  const { rows } = await client.query<{ blobId: string; size: string }>({
    name: 'current_of',
    text: 'SELECT blob_id AS "blobId", size FROM objects WHERE team = $1 AND name = $2',
    values: [team, name],
  })
  return rows[0] && { blobId: rows[0].blobId, size: Number(rows[0].size) }
}

async function putRow(client: pg.PoolClient, { blobId, team, name }: Writing, written: Written): Promise<ObjectRow> {
  const { rows } = await client.query<ObjectRow>({
    name: 'put_object',
    text: `INSERT INTO objects (team, name, blob_id, size, md5, content_type, created_by, created_at, updated_at,
             expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, now(), now(), now() + $8::bigint * interval '1 s')
           ON CONFLICT (team, name) DO UPDATE SET blob_id = excluded.blob_id, size = excluded.size, md5 = excluded.md5,
             content_type = excluded.content_type, updated_at = now(), expires_at = excluded.expires_at
           RETURNING ${columns}`,
    values: [
      team,
      name,
      blobId,
      written.size,
      written.md5,
      written.contentType,
      written.asker.name,
      written.expiresInS,
    ],
  })
  return rows[0] as ObjectRow
}

/**
 * A replaced content is kept for its links, which count as long as they last, and for its readers: for these alone where all such
 * contents of the team have no more bytes than it may keep. Gives what counts no more. The team's usage must be locked.
 */
async function replace(
  client: pg.PoolClient,
  team: string,
  blobId: string,
  { graceMs, teamMaxBytes }: ObjectLimits,
): Promise<number> {
  const { rows } = await client.query<{ freed: string }>({
    name: 'replace_blob',
    text: `UPDATE blobs SET state = 3, counted = before - freed, replaced = freed, due_at = greatest(linked_until, now() +
               CASE WHEN used.replaced + freed <= $4 THEN $3 * interval '1 ms' ELSE interval '0' END)
           FROM (SELECT counted AS before, CASE WHEN linked_until > now() THEN 0 ELSE counted END AS freed
                 FROM blobs WHERE id = $1 FOR UPDATE) was, usage used
           WHERE id = $1 AND used.team = $2 RETURNING freed`,
    values: [blobId, team, graceMs, teamMaxBytes],
  })
  const freed = Number(rows[0]?.freed ?? 0)
  await client.query({
    name: 'add_replaced',
    text: 'UPDATE usage SET replaced = replaced + $2 WHERE team = $1',
    values: [team, freed],
  })
  return freed
}

/** The team's usage must be locked. */
async function requireObjectQuota(client: pg.PoolClient, team: string, teamMaxObjects: number): Promise<void> {
  const { rows } = await client.query({
    name: 'has_objects',
    text: 'SELECT FROM usage WHERE team = $1 AND objects >= $2',
    values: [team, teamMaxObjects],
  })
  if (rows.length > 0) throw tooManyObjects(teamMaxObjects)
}

function tooManyObjects(teamMaxObjects: number) {
  return limitReached(`The team has ${teamMaxObjects} objects`, 'objects in TEAM_LIMITS')
}

function givenUp() {
  return unavailable('The upload took too long to go on, try again')
}
