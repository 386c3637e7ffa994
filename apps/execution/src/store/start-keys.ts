import { Status } from '@automation/contract/execution/v1/execution'
import { manyArrivals, oneArrival } from './new-run-columns.ts'
import type { Queries } from './connections.ts'

interface KnownKey {
  /** Null where nothing is started under it any more. */
  executionId: string | null
  bodyHash: Buffer | null
}

/** A key under which something is started once. */
export interface StartKey {
  scope: string
  key: string
  bodyHash?: Uint8Array
  /** For so long it is known; a day where nothing is said. */
  keptDays?: number
}

/** The scope of the keys of error handlers, whose key is the run that has failed: by it such runs are known, too. */
export const errorHandlerScope = 'error handler'

/** For so long they are known: as long as the runs that have failed are kept. */
export const keptDaysOf = (retentionDays: number) => retentionDays + 1

/** Of a start under a key under which nothing is started any more. */
export const startGivenUpCode = 'start_given_up'

/** For an arrival `i`: that its team is in the cell. */
const ownTeam = 'SELECT FROM team_slots s WHERE s.team = i.team AND s.moved_to IS NULL'

/** For an arrival `i`: that its process was deleted. */
export const deletedProcess = 'SELECT FROM deleted_processes d WHERE d.team = i.team AND d.process_id = i.process_id'

/** The server waits for a lock no longer than the caller, so that nothing goes on there which nobody waits for. */
export const noLongerThan = (ms: number) => `set_config('lock_timeout', '${ms}ms', true) AS patience`

/**
 * A common table `key` of one arrival: there where its key is new, its team is here, its calling run still runs and its
 * process is not deleted. `from` is the number of the parameter with the scope; key, hash and days come behind it.
 */
export const takenKey = (from: number) => `key AS (
  INSERT INTO start_keys (team, scope, key, execution_id, body_hash, expires_at)
  SELECT i.team, $${from}::text, $${from + 1}::text, i.id, $${from + 2}::bytea,
         now() + make_interval(days => $${from + 3}::integer)
    FROM ${noLongerThan(400)} CROSS JOIN ${oneArrival.rows}
   WHERE NOT EXISTS (${deletedProcess}) AND EXISTS (${ownTeam})
     AND (i.parent_id IS NULL OR EXISTS (SELECT FROM executions p WHERE p.id = i.parent_id AND p.status = ${Status.RUNNING}))
  ON CONFLICT DO NOTHING RETURNING execution_id
)`

/** The same of many arrivals, with an array for each of these parameters. In one order, so that nobody waits in a circle. */
export const takenKeys = (from: number) => `key AS (
  INSERT INTO start_keys (team, scope, key, execution_id, body_hash, expires_at)
  SELECT i.team, k.scope, k.key, i.id, k.body_hash, now() + make_interval(days => k.days)
    FROM ${noLongerThan(800)} CROSS JOIN ${manyArrivals.rows}
    JOIN unnest($${from}::text[], $${from + 1}::text[], $${from + 2}::bytea[], $${from + 3}::integer[])
         WITH ORDINALITY AS k(scope, key, body_hash, days, n) USING (n)
   WHERE NOT EXISTS (${deletedProcess}) AND EXISTS (${ownTeam})
     AND (i.parent_id IS NULL OR EXISTS (SELECT FROM executions p WHERE p.id = i.parent_id AND p.status = ${Status.RUNNING}))
   ORDER BY i.team, k.scope, k.key
  ON CONFLICT DO NOTHING RETURNING execution_id
)`

/** The values of the parameters of one key. */
export function keyValues({ scope, key, bodyHash, keptDays = 1 }: StartKey): unknown[] {
  return [scope, key, bodyHash === undefined ? null : Buffer.from(bodyHash), keptDays]
}

/** Those of many, column by column. */
export function manyKeyValues(keys: StartKey[]): unknown[][] {
  const rows = keys.map(keyValues)
  return [0, 1, 2, 3].map((column) => rows.map((row) => row[column]))
}

/** Under what a key is known; one whose time is over is removed. */
export async function readStartKey(
  pool: Queries,
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

/** Nothing is started under a key any more; gives what has been. */
export async function giveUpStart(
  pool: Queries,
  team: string,
  { scope, key, keptDays = 1 }: StartKey,
): Promise<string | undefined> {
  const { rowCount } = await pool.query({
    name: 'give-up-start',
    // Waits for a start that is being written.
    text: `INSERT INTO start_keys AS k (team, scope, key, expires_at)
           SELECT $1::text, $2::text, $3::text, now() + make_interval(days => $4::integer) FROM ${noLongerThan(800)}
           ON CONFLICT (team, scope, key) DO UPDATE SET execution_id = NULL, expires_at = excluded.expires_at
             WHERE k.expires_at <= now()`,
    values: [team, scope, key, keptDays],
  })
  if (rowCount !== 0) return undefined
  return (await readStartKey(pool, team, scope, key))?.executionId ?? undefined
}

/** Removes keys whose time is over, some at a time; gives how many. */
export async function removeExpiredKeys(pool: Queries, limit: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM start_keys WHERE (team, scope, key) IN (
       SELECT team, scope, key FROM start_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1)`,
    [limit],
  )
  return rowCount ?? 0
}

/** Whether a key comes with the request that it came with before. */
export function sameHash(known: Buffer | null, given: Uint8Array | undefined): boolean {
  if (known === null || given === undefined) return known === null && given === undefined
  return known.equals(given)
}
