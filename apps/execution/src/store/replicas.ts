import type { Queries } from './connections.ts'

/** A replica as it tells the others. */
export interface ReplicaRow {
  id: string
  /** Where its gRPC is, as host:port. */
  address: string
  /** It takes nothing new. */
  stopping: boolean
}

/** How long a replica counts that says nothing. */
const leaseS = 10

/**
 * Says that this replica is there, and up to when it knows which teams have left; gives the others that are, the first by id
 * first.
 */
export async function beat(
  pool: Queries,
  { id, address, stopping }: ReplicaRow,
  movesKnownUntil: Date | undefined,
): Promise<ReplicaRow[]> {
  const { rows } = await pool.query<ReplicaRow>({
    name: 'replica-beat',
    text: `WITH own AS (
             INSERT INTO replicas (id, address, stopping, expires_at, moves_known_at)
             VALUES ($1, $2, $3, now() + interval '${leaseS} s', $4)
             ON CONFLICT (id) DO UPDATE
                SET stopping = excluded.stopping, expires_at = excluded.expires_at, moves_known_at = excluded.moves_known_at
           )
           SELECT id, address, stopping FROM replicas WHERE id <> $1 AND expires_at > now() ORDER BY id`,
    values: [id, address, stopping, movesKnownUntil ?? null],
    query_timeout: 2000,
  })
  return rows
}

/** The replica is gone; so are those that said nothing for long. */
export async function removeReplicas(pool: Queries, id?: string): Promise<void> {
  await pool.query({
    name: 'replicas-gone',
    text: `DELETE FROM replicas WHERE id IN (
             SELECT id FROM replicas WHERE id = $1 OR expires_at < now() - interval '${leaseS} s' FOR UPDATE SKIP LOCKED)`,
    values: [id ?? null],
  })
}
