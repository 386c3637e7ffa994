import { Failure, limitReached, notFound } from '@automation/errors'
import type pg from 'pg'
import { checkParts } from '../parts.ts'
import { tooLarge, type Most } from '../writings.ts'
import type { ObjectRow } from './objects.ts'
import type { Store } from './store.ts'
import { inTurns } from './sweep.ts'
import {
  becomeContent,
  currentOf,
  dropBlobs,
  makeCurrent,
  type ObjectLimits,
  type Writing,
  type Written,
} from './uploads.ts'
import { addUsage, lockUsage, storageFull } from './usage.ts'

/** An upload in parts. */
export interface UploadRow {
  id: string
  name: string
  contentType: string
  /** Of the whole in bytes, a bigint as text; null where it was not declared. */
  size: string | null
  /** In bytes, as text. */
  partSize: string
  createdAt: Date
  expiresAt: Date
  /** Of its parts together, as text. */
  received: string
  isCompleting: boolean
  /** Null until it is completed; from here on: of the object that it became. */
  completedAt: Date | null
  assembly: string | null
  objectSize: string | null
  objectMd5: Buffer | null
  objectCreatedAt: Date | null
}

/** A part that is kept. */
export interface PartRow {
  number: number
  blobId: string
  /** In bytes. */
  size: number
  md5: Buffer
}

/** Which upload, and whose. */
interface UploadKey {
  team: string
  /** A UUID. */
  id: string
}

interface NewUpload extends UploadKey {
  name: string
  contentType: string
  size: number | undefined
  partSize: number
}

/** Whoever writes the assembly holds the upload. */
const isCompleting = `EXISTS (SELECT FROM blobs WHERE id = uploads.assembly AND state = 1 AND due_at > now())`

const columns = `id, name, content_type AS "contentType", size, part_size AS "partSize", created_at AS "createdAt",
  expires_at AS "expiresAt", completed_at AS "completedAt", assembly, object_size AS "objectSize",
  object_md5 AS "objectMd5", object_created_at AS "objectCreatedAt", received, ${isCompleting} AS "isCompleting"`

/** Opens an upload. Failures: limit_reached; storage_full where what is declared would not fit now. */
export async function insertUpload(
  store: Store,
  { id, team, name, contentType, size, partSize }: NewUpload,
  limits: { teamMaxUploads: number; teamMaxBytes: number; keepMs: number },
): Promise<UploadRow> {
  return store.transactionFor(team, async (client) => {
    const used = await lockUsage(client, team)
    const replaced = await currentOf(client, team, name)
    if (used + (size ?? 0) - (replaced?.size ?? 0) > limits.teamMaxBytes) throw storageFull(limits.teamMaxBytes)
    const { rows } = await client.query<UploadRow>({
      name: 'insert_upload',
      text: `INSERT INTO uploads (id, team, name, content_type, size, part_size, expires_at)
             SELECT $1, $2, $3, $4, $5, $6, now() + $7 * interval '1 ms'
             WHERE (SELECT count(*) FROM uploads WHERE team = $2 AND completed_at IS NULL) < $8
             RETURNING ${columns}`,
      values: [id, team, name, contentType, size, partSize, limits.keepMs, limits.teamMaxUploads],
    })
    if (rows[0] === undefined) throw tooManyUploads(limits.teamMaxUploads)
    return rows[0]
  })
}

/** Undefined where the team has no such upload. */
export async function readUpload(store: Store, { team, id }: UploadKey): Promise<UploadRow | undefined> {
  const [row] = await store.queryFor<UploadRow>(team, {
    name: 'read_upload',
    text: `SELECT ${columns} FROM uploads WHERE id = $1 AND team = $2 AND expires_at > now()`,
    values: [id, team],
  })
  return row
}

/** Those of a team that are not completed, the oldest first. */
export function openUploads(store: Store, team: string, limit: number): Promise<UploadRow[]> {
  return store.queryFor<UploadRow>(team, {
    name: 'open_uploads',
    text: `SELECT ${columns} FROM uploads WHERE team = $1 AND completed_at IS NULL AND expires_at > now()
           ORDER BY id LIMIT $2`,
    values: [team, limit],
  })
}

const partColumns = 'number, blob_id AS "blobId", size, md5'

type RawPart = Omit<PartRow, 'size'> & { size: string }

const partOf = (row: RawPart): PartRow => ({ ...row, size: Number(row.size) })

const partsOf = {
  name: 'parts_of_upload',
  text: `SELECT ${partColumns} FROM upload_parts WHERE upload_id = $1 ORDER BY number`,
}

/** The parts of an upload, by number. */
export async function readParts(store: Store, { team, id }: UploadKey): Promise<PartRow[]> {
  const rows = await store.queryFor<RawPart>(team, { ...partsOf, values: [id] })
  return rows.map(partOf)
}

/** A part is about to come: the upload stays. Failures: upload_not_found; upload_closed; limit_reached. */
export async function expectPart(
  store: Store,
  key: UploadKey,
  number: number,
  limits: { teamMaxObjects: number; keepMs: number },
): Promise<void> {
  await store.transactionFor(key.team, async (client) => {
    await lockOpen(client, key)
    await requirePartQuota(client, key, number, limits.teamMaxObjects)
    await addReceived(client, key.id, 0, limits.keepMs)
  })
}

/** A part that is new counts as an object would. Failure limit_reached. */
async function requirePartQuota(
  client: pg.PoolClient,
  { team, id }: UploadKey,
  number: number,
  teamMaxObjects: number,
): Promise<void> {
  const { rowCount } = await client.query({
    name: 'has_parts',
    text: `SELECT FROM usage WHERE team = $1
              AND objects + (SELECT sum(parts) FROM uploads WHERE team = $1 AND completed_at IS NULL) >= $2
              AND NOT EXISTS (SELECT FROM upload_parts WHERE upload_id = $3 AND number = $4)`,
    values: [team, teamMaxObjects, id, number],
  })
  if (rowCount !== 0)
    throw limitReached(`The team has ${teamMaxObjects} objects and parts of open uploads`, 'objects in TEAM_LIMITS')
}

/**
 * The content of a part is stored: it is that part from now on, and what it replaces goes. Failures: upload_not_found;
 * upload_closed; limit_reached; object_too_large; storage_full; unavailable where the writing has been given up.
 */
export async function finishPart(
  store: Store,
  id: string,
  { team }: Writing,
  part: PartRow,
  limits: { teamMaxBytes: number; teamMaxObjects: number; object: Most; keepMs: number },
): Promise<void> {
  await store.transactionFor(team, async (client) => {
    const used = await lockUsage(client, team)
    await lockOpen(client, { team, id })
    await requirePartQuota(client, { team, id }, part.number, limits.teamMaxObjects)
    const [replaced] = await takeParts(client, id, part.number)
    const freed = replaced === undefined ? 0 : await dropBlobs(client, team, [replaced.blobId])
    const added = part.size - (await makeCurrent(client, part.blobId, part.size))
    if (added > 0 && used - freed + added > limits.teamMaxBytes) throw storageFull(limits.teamMaxBytes)
    await addUsage(client, team, added)
    await client.query({
      name: 'insert_upload_part',
      text: 'INSERT INTO upload_parts (upload_id, number, blob_id, size, md5) VALUES ($1, $2, $3, $4, $5)',
      values: [id, part.number, part.blobId, part.size, part.md5],
    })
    const received = await addReceived(client, id, part.size - (replaced?.size ?? 0), limits.keepMs)
    if (received > limits.object.maxBytes) throw tooLarge(limits.object)
  })
}

/**
 * From now on whoever writes this blob completes the upload, and no part comes any more. Failures: upload_not_found;
 * upload_closed where another one does it, or has done it; those of `checkParts`.
 */
export async function claimUpload(
  store: Store,
  key: UploadKey,
  blobId: string,
  keepMs: number,
): Promise<{ parts: PartRow[]; size: number }> {
  return store.transactionFor(key.team, async (client) => {
    const { size, received } = await lockOpen(client, key)
    const { rows } = await client.query<RawPart>({ ...partsOf, values: [key.id] })
    const parts = rows.map(partOf)
    checkParts(
      parts.map(({ number }) => number),
      Number(received),
      size === null ? undefined : Number(size),
    )
    await client.query({
      name: 'claim_upload',
      text: `UPDATE uploads SET assembly = $2, expires_at = now() + $3 * interval '1 ms' WHERE id = $1`,
      values: [key.id, blobId, keepMs],
    })
    return { parts, size: Number(received) }
  })
}

/** So many completed uploads of a team are remembered, the latest. */
const remembered = 1000

/**
 * The parts are one content: it becomes that of the object, and the parts go. Failures: upload_not_found where the upload
 * was deleted meanwhile; those of `becomeContent`.
 */
export async function completeUpload(
  store: Store,
  id: string,
  writing: Writing,
  written: Written,
  limits: ObjectLimits & { keepMs: number },
): Promise<ObjectRow> {
  const { team, blobId } = writing
  return store.transactionFor(team, async (client) => {
    const used = await lockUsage(client, team)
    const held = await client.query({
      name: 'hold_claimed_upload',
      text: 'SELECT FROM uploads WHERE id = $1 AND team = $2 AND assembly = $3 FOR UPDATE',
      values: [id, team, blobId],
    })
    if (held.rowCount === 0) throw notFound('upload')
    const parts = await takeParts(client, id)
    const freed = await dropBlobs(
      client,
      team,
      parts.map((part) => part.blobId),
    )
    const object = await becomeContent(client, used - freed, writing, written, limits)
    await client.query({
      name: 'complete_upload',
      text: `UPDATE uploads SET completed_at = $2, object_size = $3, object_md5 = $4, object_created_at = $5, received = 0,
               content_type = $6, expires_at = now() + $7 * interval '1 ms' WHERE id = $1`,
      values: [id, object.updatedAt, object.size, object.md5, object.createdAt, object.contentType, limits.keepMs],
    })
    await client.query({
      name: 'forget_completed_uploads',
      text: `DELETE FROM uploads WHERE id IN (SELECT id FROM uploads WHERE team = $1 AND completed_at IS NOT NULL
               ORDER BY completed_at DESC OFFSET ${remembered})`,
      values: [team],
    })
    return object
  })
}

/** It is there no more; the contents of its parts go with the next sweep. False where the team has no such upload. */
export function deleteUpload(store: Store, key: UploadKey): Promise<boolean> {
  return drop(store, key, false)
}

/** Uploads whose time is over. */
export function expiredUploads(store: Store, limit: number): Promise<UploadKey[]> {
  return store.query<UploadKey & { id: string }>({
    name: 'expired_uploads',
    text: inTurns('uploads', 'team, id', 'expires_at <= now()', 'expires_at'),
    values: [limit],
  })
}

/** The same for one whose time is over; false where it is not. */
export function deleteExpiredUpload(store: Store, key: UploadKey): Promise<boolean> {
  return drop(store, key, true)
}

async function drop(store: Store, { team, id }: UploadKey, ifExpired: boolean): Promise<boolean> {
  const work = async (client: pg.PoolClient) => {
    await lockUsage(client, team)
    const held = await client.query({
      name: 'hold_upload',
      text: 'SELECT FROM uploads WHERE id = $1 AND team = $2 AND (expires_at <= now()) = $3 FOR UPDATE',
      values: [id, team, ifExpired],
    })
    if (held.rowCount === 0) return false
    const parts = await takeParts(client, id)
    await dropBlobs(
      client,
      team,
      parts.map(({ blobId }) => blobId),
    )
    await client.query({ name: 'delete_upload', text: 'DELETE FROM uploads WHERE id = $1', values: [id] })
    return true
  }
  // The sweep is for all teams: it waits for none.
  return ifExpired ? store.transaction(work) : store.transactionFor(team, work)
}

/** Locks an upload that takes parts. Failures: upload_not_found; upload_closed. */
async function lockOpen(client: pg.PoolClient, { team, id }: UploadKey): Promise<UploadRow> {
  const held = await client.query({
    name: 'hold_open_upload',
    text: 'SELECT FROM uploads WHERE id = $1 AND team = $2 AND expires_at > now() FOR UPDATE',
    values: [id, team],
  })
  if (held.rowCount === 0) throw notFound('upload')
  // A statement of its own: it sees who has begun to complete it while the first one waited.
  const { rows } = await client.query<UploadRow>({
    name: 'held_upload',
    text: `SELECT ${columns} FROM uploads WHERE id = $1`,
    values: [id],
  })
  const row = rows[0]!
  if (row.completedAt !== null || row.isCompleting) throw uploadClosed(row.completedAt !== null)
  return row
}

/** Takes parts from an upload that is locked: the one with this number, or all. */
async function takeParts(client: pg.PoolClient, id: string, number?: number): Promise<PartRow[]> {
  const { rows } = await client.query<RawPart>({
    name: 'take_upload_parts',
    text: `DELETE FROM upload_parts WHERE upload_id = $1 AND ($2::integer IS NULL OR number = $2) RETURNING ${partColumns}`,
    values: [id, number],
  })
  return rows.map(partOf)
}

/** The upload goes on. Gives what its parts have together. */
async function addReceived(client: pg.PoolClient, id: string, bytes: number, keepMs: number): Promise<number> {
  const { rows } = await client.query<{ received: string }>({
    name: 'add_received',
    text: `UPDATE uploads SET received = received + $2, expires_at = now() + $3 * interval '1 ms' WHERE id = $1
           RETURNING received`,
    values: [id, bytes, keepMs],
  })
  return Number(rows[0]?.received)
}

function tooManyUploads(most: number): Failure {
  const text = `The team has ${most} uploads open, and may have no more: complete or delete some`
  return new Failure('failed_precondition', 'limit_reached', text)
}

function uploadClosed(isCompleted: boolean): Failure {
  const text = `The upload ${isCompleted ? 'is completed' : 'is being completed'}, and takes no more parts`
  return new Failure('failed_precondition', 'upload_closed', text)
}
