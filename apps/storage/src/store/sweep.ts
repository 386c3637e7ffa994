import type { Store } from './store.ts'
import { addUsage, lockUsage } from './usage.ts'

export interface DueBlob {
  id: string
  team: string
}

/**
 * Uploads whose writer is gone are given up. They are removed a grace later: a writer that was only frozen finds out
 * before, and leaves nothing behind.
 */
export async function giveUpUploads(store: Store, graceMs: number): Promise<void> {
  await store.query({
    name: 'give_up_uploads',
    // What somebody holds is done by the next sweep, so that a hung writer keeps no other team's from going.
    text: `UPDATE blobs SET state = 3, due_at = now() + $1 * interval '1 ms'
            WHERE id IN (SELECT id FROM blobs WHERE state = 1 AND due_at <= now() FOR UPDATE SKIP LOCKED)`,
    values: [graceMs],
  })
}

/** Its writer says itself that an upload is over, unless it has become something: what it left is due to be removed. */
export async function abandonUpload(store: Store, blobId: string): Promise<void> {
  await store.query({
    name: 'abandon_upload',
    text: `UPDATE blobs SET state = 3, due_at = now() WHERE id = $1 AND state = 1`,
    values: [blobId],
  })
}

/**
 * The same of one of which something may still arrive in the store: it is removed a grace later, counts against nothing until
 * then, and is of no object's name, so that a deletion does not forget it before.
 */
export async function abandonLateUpload(store: Store, { id, team }: DueBlob, graceMs: number): Promise<void> {
  await store.transaction(async (client) => {
    await lockUsage(client, team)
    const { rows } = await client.query<{ freed: string }>({
      name: 'abandon_late_upload',
      text: `UPDATE blobs SET state = 3, due_at = now() + $2 * interval '1 ms', name = '', counted = 0
             FROM (SELECT id AS was_id, counted AS before FROM blobs WHERE id = $1 AND state = 1 FOR UPDATE) was
             WHERE id = was.was_id RETURNING was.before AS freed`,
      values: [id, graceMs],
    })
    await addUsage(client, team, -Number(rows[0]?.freed ?? 0))
  })
}

/**
 * Rows that are due, the teams in turns, among those that have been for longest: what a batch costs does not grow with all
 * that is due.
 */
export function inTurns(table: string, columns: string, isDue: string, since: string): string {
  return `SELECT ${columns} FROM (
            SELECT *, row_number() OVER (PARTITION BY team ORDER BY ${since}) AS turn FROM (
              SELECT ${columns}, ${since} FROM ${table} WHERE ${isDue} ORDER BY ${since} LIMIT 10 * $1::integer
            ) longest
          ) due ORDER BY turn LIMIT $1::integer`
}

/** Objects whose time is over. */
export async function expiredObjects(store: Store, limit: number): Promise<{ team: string; name: string }[]> {
  return store.query<{ team: string; name: string }>({
    name: 'expired_objects',
    text: inTurns('objects', 'team, name', 'expires_at <= now()', 'expires_at'),
    values: [limit],
  })
}

/** Blobs whose time to be removed has come. */
export async function dueBlobs(store: Store, limit: number): Promise<DueBlob[]> {
  return store.query<DueBlob>({
    name: 'due_blobs',
    text: inTurns('blobs', 'id, team', 'state = 3 AND due_at <= now()', 'due_at'),
    values: [limit],
  })
}

/** How many blobs are due, up to 100,000, and how long the first of them is, in ms. */
export async function countDue(store: Store): Promise<{ count: number; lateMs: number }> {
  const [row] = await store.query<{ count: number; lateMs: number }>({
    name: 'count_due_blobs',
    text: `SELECT count(*)::integer AS count, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 * 1000 AS "lateMs"
           FROM (SELECT due_at FROM blobs WHERE state = 3 AND due_at <= now() LIMIT 100000) due`,
  })
  return row ?? { count: 0, lateMs: 0 }
}

/** The store has nothing of a blob any more: neither has the database, and what it still counted is free. */
export async function forgetBlob(store: Store, { id, team }: DueBlob): Promise<void> {
  await store.transaction(async (client) => {
    await lockUsage(client, team)
    const { rows } = await client.query<{ counted: string }>({
      name: 'forget_blob',
      text: 'DELETE FROM blobs WHERE id = $1 AND state = 3 AND due_at <= now() RETURNING counted',
      values: [id],
    })
    await addUsage(client, team, -Number(rows[0]?.counted ?? 0))
  })
}

/** How many objects all teams have, and the bytes that count against them. */
export async function readKept(store: Store): Promise<{ objects: number; bytes: number }> {
  const [row] = await store.query<{ objects: string; bytes: string }>({
    name: 'read_kept',
    text: 'SELECT (SELECT count(*) FROM objects) AS objects, (SELECT coalesce(sum(bytes), 0) FROM usage) AS bytes',
    values: [],
  })
  return { objects: Number(row?.objects), bytes: Number(row?.bytes) }
}
