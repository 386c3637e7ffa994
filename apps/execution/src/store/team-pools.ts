import { timestampFromDate, type Timestamp } from '@bufbuild/protobuf/wkt'
import type { Queries } from './connections.ts'
import { livingStatuses } from './statuses.ts'

/** What a runner says of itself, or a pool wants of its runners. */
export type Labels = Record<string, string>

/** Notes a pool; false where there is one of this name. */
export async function insertPool(
  queries: Queries,
  pool: { name: string; team: string; labels: Labels; createdBy: string },
): Promise<boolean> {
  const { rowCount } = await queries.query(
    'INSERT INTO team_pools (name, team, labels, created_by) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
    [pool.name, pool.team, JSON.stringify(pool.labels), pool.createdBy],
  )
  return rowCount === 1
}

/** Whose each pool is. */
export async function readPoolOwners(queries: Queries): Promise<{ name: string; team: string }[]> {
  const { rows } = await queries.query<{ name: string; team: string }>({
    name: 'pool-owners',
    text: 'SELECT name, team FROM team_pools ORDER BY name',
  })
  return rows
}

/** What a pool of one team is; undefined for others. */
export async function readPool(queries: Queries, name: string): Promise<{ team: string; labels: Labels } | undefined> {
  const { rows } = await queries.query<{ team: string; labels: Labels }>({
    name: 'team-pool',
    text: 'SELECT team, labels FROM team_pools WHERE name = $1',
    values: [name],
  })
  return rows[0]
}

interface TokenRow {
  id: string
  pool: string
  createdBy: string
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
}

/** A token as an operator sees it. */
interface TokenRecord {
  id: string
  createdBy: string
  createdAt: Timestamp
  expiresAt?: Timestamp
  revokedAt?: Timestamp
  lastUsedAt?: Timestamp
}

/** A pool as an operator sees it. */
interface PoolRecord {
  name: string
  team: string
  labels: Labels
  createdBy: string
  createdAt: Timestamp
  runners: number
  tokens: TokenRecord[]
}

const tokenColumns =
  'id, pool, created_by AS "createdBy", created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"'

/** All pools of teams with their tokens, or the one of this name. */
export async function readPoolRecords(queries: Queries, name?: string): Promise<PoolRecord[]> {
  const { rows } = await queries.query<Omit<PoolRecord, 'createdAt' | 'tokens'> & { createdAt: Date }>({
    name: 'team-pools',
    text: `SELECT name, team, labels, created_by AS "createdBy", created_at AS "createdAt",
                  (SELECT count(*) FROM sessions s WHERE s.ended_at IS NULL AND s.pool = p.name)::integer AS runners
             FROM team_pools p WHERE $1::text IS NULL OR name = $1 ORDER BY name`,
    values: [name ?? null],
  })
  const { rows: found } = await queries.query<TokenRow>({
    name: 'pool-tokens',
    text: `SELECT ${tokenColumns} FROM pool_tokens WHERE $1::text IS NULL OR pool = $1 ORDER BY id`,
    values: [name ?? null],
  })
  const tokens = Map.groupBy(found, ({ pool }) => pool)
  return rows.map(({ createdAt, ...row }) => ({
    ...row,
    createdAt: timestampFromDate(createdAt),
    tokens: (tokens.get(row.name) ?? []).map(tokenRecord),
  }))
}

function tokenRecord({ id, createdBy, createdAt, expiresAt, revokedAt, lastUsedAt }: TokenRow): TokenRecord {
  const at = (date: Date | null) => (date === null ? undefined : timestampFromDate(date))
  return {
    ...{ id, createdBy, createdAt: timestampFromDate(createdAt) },
    ...{ expiresAt: at(expiresAt), revokedAt: at(revokedAt), lastUsedAt: at(lastUsedAt) },
  }
}

/** Removes a pool with its tokens; gives whose it was, undefined where there is none. */
export async function removePool(queries: Queries, name: string): Promise<string | undefined> {
  const { rows } = await queries.query<{ team: string }>('DELETE FROM team_pools WHERE name = $1 RETURNING team', [
    name,
  ])
  return rows[0]?.team
}

/** Whether runs of a team wait or run in a pool. */
export async function isInUse(queries: Queries, { name, team }: { name: string; team: string }): Promise<boolean> {
  const { rows } = await queries.query<{ used: boolean }>(
    `SELECT EXISTS (SELECT FROM executions WHERE team = $1 AND pool = $2 AND status IN ${livingStatuses}) AS used`,
    [team, name],
  )
  return rows[0]!.used
}

/** Notes a token; undefined where there is no such pool, or it has `most` of them that are good. */
export async function insertToken(
  queries: Queries,
  token: { id: string; pool: string; hash: Uint8Array; createdBy: string; livesMs: number | undefined },
  most: number,
): Promise<TokenRecord | undefined> {
  const { rows } = await queries.query<TokenRow>(
    `INSERT INTO pool_tokens (id, pool, hash, created_by, expires_at)
     SELECT $1, name, $3, $4, now() + $5::float8 * interval '1 ms' FROM team_pools
      WHERE name = $2 AND (SELECT count(*) FROM pool_tokens t WHERE t.pool = $2 AND ${isGood('t')}) < $6
     RETURNING ${tokenColumns}`,
    [token.id, token.pool, token.hash, token.createdBy, token.livesMs ?? null, most],
  )
  return rows[0] && tokenRecord(rows[0])
}

/** Makes a token worth nothing; gives its pool and team, undefined where there is none. */
export async function revokeToken(queries: Queries, id: string): Promise<{ pool: string; team: string } | undefined> {
  const { rows } = await queries.query<{ pool: string; team: string }>(
    `UPDATE pool_tokens t SET revoked_at = coalesce(t.revoked_at, now()) FROM team_pools p
      WHERE t.id = $1 AND p.name = t.pool RETURNING t.pool, p.team`,
    [id],
  )
  return rows[0]
}

/** What a token lets in: runners of a pool, which is one team's. */
export interface PoolGrant {
  tokenId: string
  pool: string
  team: string
  labels: Labels
}

/** What the token of this hash is good for, and notes to the minute that it was used; undefined where it is good for nothing. */
export async function useToken(queries: Queries, hash: Uint8Array): Promise<PoolGrant | undefined> {
  const { rows } = await queries.query<PoolGrant>({
    name: 'use-pool-token',
    text: `WITH found AS (
             SELECT t.id, t.pool, p.team, p.labels, t.last_used_at
               FROM pool_tokens t JOIN team_pools p ON p.name = t.pool WHERE t.hash = $1 AND ${isGood('t')}
           ), used AS (
             UPDATE pool_tokens t SET last_used_at = now() FROM found f
              WHERE t.id = f.id AND coalesce(f.last_used_at < now() - interval '1 minute', true)
           )
           SELECT id AS "tokenId", pool, team, labels FROM found`,
    values: [hash],
    query_timeout: 2000,
  })
  return rows[0]
}

/** The sessions of a pool, or those that a token has opened. */
export async function readSessionsOf(queries: Queries, of: { pool: string } | { tokenId: string }): Promise<string[]> {
  const [column, value] = 'pool' in of ? ['pool', of.pool] : ['token_id', of.tokenId]
  const { rows } = await queries.query<{ id: string }>(
    `SELECT id FROM sessions WHERE ended_at IS NULL AND ${column} = $1`,
    [value],
  )
  return rows.map(({ id }) => id)
}

/** Whether a row of tokens lets anybody in. */
export function isGood(row: string): string {
  return `${row}.revoked_at IS NULL AND (${row}.expires_at IS NULL OR ${row}.expires_at > now())`
}

/** Whether the token that the session `s` was opened with is worth nothing any more. */
export const hasLostToken = `s.token_id IS NOT NULL
          AND NOT EXISTS (SELECT FROM pool_tokens t WHERE t.id = s.token_id AND ${isGood('t')})`
