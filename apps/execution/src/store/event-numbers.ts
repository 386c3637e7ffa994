import type { Logger } from '@automation/service'
import type pg from 'pg'

interface Numbers {
  /** What the numbers of events are ahead of those of this server's transactions. */
  added: bigint
  /** The number of the next transaction, in the numbers of events. */
  next: bigint
  /** The highest number that an event has, or that a cursor has passed. */
  latest: bigint
  /** The number of the position that was drawn last, and the highest of late events. */
  drawn: bigint
  position: bigint
}

/** A restore into a big system renumbers and locks for longer than a statement usually may. */
const patient = { query_timeout: 300_000 }

/**
 * What has to be added to this server's transaction numbers so that those of events go on. A database that comes from a
 * dump brings the numbers of another server, which may be far ahead of those here: its events would count as handled, or
 * as not over yet. That is seen by a number that no transaction here has had yet. From then on all numbers are raised
 * beyond the highest that is known, so that cursors stay as they are: what was handled stays so, and all else comes. Positions
 * go on as well: logical replication, and copies of rows, leave their sequence behind.
 */
export async function eventNumbers(client: pg.ClientBase, logger: Logger): Promise<bigint> {
  const known = await readNumbers(client)
  return goOn(known) ? known.added : raiseNumbers(client, logger)
}

function goOn(known: Numbers): boolean {
  return fits(known) && known.position <= known.drawn
}

function fits({ next, latest }: Numbers): boolean {
  return latest < next
}

async function raiseNumbers(client: pg.ClientBase, logger: Logger): Promise<bigint> {
  try {
    await client.query('BEGIN')
    await client.query('SET LOCAL statement_timeout = 0')
    // Nobody writes an event meanwhile.
    await client.query({ text: 'LOCK TABLE ONLY timeline_events IN ACCESS EXCLUSIVE MODE', ...patient })
    const known = await readNumbers(client)
    const added = fits(known) ? known.added : known.latest
    const late = fits(known) ? 0 : await renumber(client, known)
    if (!goOn(known)) await client.query({ text: goOnWithPositions, ...patient })
    await client.query('COMMIT')
    if (goOn(known)) return added
    const waiting = await countWaiting(client)
    logger.warn({ waiting, late }, 'the database came from another server: events go on where they were in it')
    return added
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined) // the connection is lost, and the transaction with it
    throw error
  }
}

/** Gives how many events had been written here before this was seen. */
async function renumber(client: pg.ClientBase, { added, next, latest }: Numbers): Promise<number> {
  await client.query(`ALTER TABLE ONLY timeline_events ALTER COLUMN xid SET DEFAULT
    (((pg_current_xact_id()::text)::bigint + ${latest})::text)::xid8`)
  // Rows keep the transaction that has put them where they are. Where it is the one that they name, they were written here.
  // What was restored came in other transactions; where one has by chance the number that a row of it names, other rows
  // of it show what it was.
  const named = `mod(xid::text::bigint - ${added}, 4294967296)`
  const { rowCount } = await client.query({
    text: `UPDATE timeline_events SET xid = ((xid::text::bigint + $2)::text)::xid8
            WHERE xid < $1::text::xid8 AND ${named} = xmin::text::bigint
              AND xmin NOT IN (SELECT DISTINCT xmin FROM timeline_events WHERE ${named} <> xmin::text::bigint)`,
    values: [next, latest - added],
    ...patient,
  })
  return rowCount ?? 0
}

const goOnWithPositions = `
SELECT setval('timeline_positions', latest) FROM (SELECT max(position) AS latest FROM timeline_events) AS known
 WHERE latest > (SELECT last_value FROM timeline_positions)`

async function readNumbers(client: pg.ClientBase): Promise<Numbers> {
  const { rows } = await client.query<Record<'origin' | 'next' | 'latest' | 'drawn' | 'position', string>>({
    name: 'event-numbers',
    text: `SELECT pg_get_expr(d.adbin, d.adrelid) AS origin, pg_snapshot_xmax(pg_current_snapshot()) AS next,
              greatest(
                (SELECT xid FROM timeline_events ORDER BY xid DESC LIMIT 1)::text::bigint,
                (SELECT max(window_to::text::bigint) - 1 FROM bus_cursors),
                (SELECT next::text::bigint - 1 FROM tracking), 0) AS latest,
              (SELECT last_value FROM timeline_positions) AS drawn,
              coalesce((SELECT position FROM timeline_events ORDER BY xid DESC, position DESC LIMIT 1), 0) AS position
         FROM pg_attribute a JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = 'timeline_events'::regclass AND a.attname = 'xid'`,
  })
  const { origin, next, latest, drawn, position } = rows[0]!
  const added = BigInt(/\+ '?(\d+)/.exec(origin)?.[1] ?? 0)
  return { added, next: BigInt(next) + added, latest: BigInt(latest), drawn: BigInt(drawn), position: BigInt(position) }
}

/** Up to 100,000 events of each consumer. */
async function countWaiting(client: pg.ClientBase): Promise<Record<string, number>> {
  const { rows } = await client.query<{ consumer: string; count: number }>({
    text: `SELECT c.consumer, (SELECT count(*)::integer FROM (
              SELECT FROM timeline_events t WHERE ${isWaiting} LIMIT 100000) AS counted) AS count
             FROM bus_cursors c ORDER BY c.consumer`,
    ...patient,
  })
  return Object.fromEntries(rows.map(({ consumer, count }) => [consumer, count]))
}

/** Of an event `t` and a cursor `c`: whether it is before that consumer. */
export const isWaiting = 't.xid >= c.window_from AND NOT (t.xid < c.window_to AND t.position <= c.position)'
