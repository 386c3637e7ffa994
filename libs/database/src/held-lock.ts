import type pg from 'pg'
import { isPooled } from './database.ts'

/** A lock that one replica holds for as long as it wants, or its connection lives. */
export interface HeldLock {
  /** For its holder's work: fails once the lock is lost. Its statements take as long as they take where `patient` was asked for. */
  client: pg.PoolClient
  /** One round trip. */
  isHeld(): Promise<boolean>
  /** Also gives up what is under way on its connection. */
  readonly release: () => void
}

/**
 * Holds an advisory lock; undefined while somebody else does. It belongs to a connection, on which the work is done, too;
 * through a pooler to a transaction that is open on a connection of its own, while the work has another one.
 */
export async function holdLock(
  pool: pg.Pool,
  name: string,
  { patient = false }: { patient?: boolean } = {},
): Promise<HeldLock | undefined> {
  const holder = await pool.connect()
  const pooled = isPooled(pool)
  try {
    if (pooled) {
      await holder.query('BEGIN')
      await holder.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    }
    // Without parameters: a statement with some keeps its snapshot, and with it all vacuums, until the transaction ends.
    const number = `hashtextextended(${holder.escapeLiteral(name)}, 0)`
    const { rows } = await holder.query<{ mine: boolean }>(
      `SELECT pg_try_advisory_${pooled ? 'xact_' : ''}lock(${number}) AS mine`,
    )
    if (rows[0]!.mine) {
      if (patient && !pooled) await holder.query('SET statement_timeout = 0')
      return heldLock(holder, pooled ? await workOf(pool, holder) : holder)
    }
    if (pooled) await holder.query('ROLLBACK')
  } catch (error) {
    holder.release(true)
    throw error
  }
  holder.release()
  return undefined
}

function heldLock(holder: pg.PoolClient, client: pg.PoolClient): HeldLock {
  let isOver = false
  return {
    client,
    isHeld: () =>
      holder.query('SELECT 1').then(
        () => true,
        () => false,
      ),
    release() {
      if (isOver) return
      isOver = true
      // Closed, so that the lock goes with it whatever happened.
      for (const each of new Set([holder, client])) each.release(true)
    },
  }
}

/** A connection for the work of who holds the lock on another one: it ends with that. */
async function workOf(pool: pg.Pool, holder: pg.PoolClient): Promise<pg.PoolClient> {
  const loss = new Promise<void>((resolve) => {
    holder.once('error', () => resolve())
    holder.once('end', () => resolve())
  })
  const client = await pool.connect()
  const lost = () => Promise.reject(new Error('Connection terminated, and a lock with it'))
  void loss.then(() => (client.query = lost as typeof client.query))
  return client
}
