import type pg from 'pg'

export interface KnownKey {
  executionId: string
  bodyHash: Buffer | null
}

/** Under what a key is known; one whose time is over is removed. */
export async function readStartKey(
  pool: pg.Pool,
  team: string,
  scope: string,
  key: string,
): Promise<KnownKey | undefined> {
  const { rows } = await pool.query<KnownKey & { over: boolean }>({
    name: 'read-key',
    text: `SELECT execution_id AS "executionId", body_hash AS "bodyHash", expires_at <= now() AS over
             FROM start_keys WHERE team = $1 AND scope = $2 AND key = $3`,
    values: [team, scope, key],
  })
  const [known] = rows
  if (known === undefined || !known.over) return known
  await pool.query({
    name: 'remove-key',
    text: 'DELETE FROM start_keys WHERE team = $1 AND scope = $2 AND key = $3 AND expires_at <= now()',
    values: [team, scope, key],
  })
  return undefined
}

/** Removes keys whose time is over, some at a time; gives how many. */
export async function removeExpiredKeys(pool: pg.Pool, limit: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM start_keys WHERE (team, scope, key) IN (
       SELECT team, scope, key FROM start_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1)`,
    [limit],
  )
  return rowCount ?? 0
}
