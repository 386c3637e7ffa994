import { ExecutionEventSchema } from '@automation/contract/events/v1/execution_event'
import { Status } from '@automation/contract/execution/v1/execution'
import type { Cursor, Leadership, Outbox, OutboxEvent, Waiting } from '@automation/events'
import { installsProcessId } from '@automation/rpc'
import { create } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type pg from 'pg'
import type { RunTraces } from '../run-traces.ts'
import { isTerminal, statuses } from '../status.ts'

interface Row {
  executionId: string
  sequence: number
  status: Status
  at: Date
  explanation: string | null
  team: string
  processId: string
  position: string
  traceparent: string | null
}

/** Who writes down who started what. */
export const startRecordsReader = 'audit'
/** Who runs the error handlers of teams. */
export const errorHandlersReader = 'error-handlers'

const ends = statuses.filter(isTerminal)

/** What a consumer has a use for, where that is little of all: the rest is not read for it. */
const useful: Record<string, string> = {
  // A value, not EXISTS: as a join it may begin with all the executions that are kept, where next to none has a callback.
  callbacks: `AND t.status IN (${ends.join()})
    AND (SELECT e.callback_url IS NOT NULL FROM executions e WHERE e.id = t.execution_id)`,
  // The first event of each, but of installs.
  [startRecordsReader]: `AND t.sequence = 1 AND t.process_id <> '${installsProcessId}'`,
  [errorHandlersReader]: `AND t.status = ${Status.ERROR}`,
}

const isWaiting = 't.xid >= c.window_from AND NOT (t.xid < c.window_to AND t.position <= c.position)'

/** The timeline as an outbox. Who leads holds an advisory lock on a connection of its own, and does all else on it. */
export class TimelineOutbox implements Outbox {
  readonly #pool: pg.Pool
  readonly #traces: RunTraces

  /** `pool`: has room for one connection a consumer. */
  constructor(pool: pg.Pool, traces: RunTraces) {
    this.#pool = pool
    this.#traces = traces
  }

  async lead(consumer: string): Promise<Leadership | undefined> {
    const client = await this.#pool.connect()
    try {
      const { rows } = await client.query<{ mine: boolean }>({
        name: 'outbox-lead',
        text: `SELECT pg_try_advisory_lock(hashtextextended('events for ' || $1, 0)) AS mine`,
        values: [consumer],
      })
      if (rows[0]!.mine) return leadership(client, consumer, this.#traces)
    } catch (error) {
      client.release(true)
      throw error
    }
    client.release()
    return undefined
  }

  /** Lets a consumer begin now, unless it has begun before. */
  async register(consumer: string): Promise<void> {
    await begin(this.#pool, consumer)
  }

  /** Counts up to 100,000. */
  async backlog(consumer: string): Promise<Waiting> {
    const { rows } = await this.#pool.query<Waiting>({
      name: 'outbox-backlog',
      text: `SELECT (SELECT count(*)::integer FROM (SELECT FROM timeline_events t WHERE ${isWaiting} LIMIT 100000) AS counted) AS count,
              coalesce((SELECT extract(epoch FROM now() - t.at)::float8 * 1000 FROM timeline_events t
                         WHERE ${isWaiting} ORDER BY t.xid, t.position LIMIT 1), 0) AS "oldestMs"
         FROM bus_cursors c WHERE c.consumer = $1`,
      values: [consumer],
    })
    return rows[0] ?? { count: 0, oldestMs: 0 }
  }
}

async function begin(client: pg.Pool | pg.PoolClient, consumer: string): Promise<void> {
  await client.query(
    `INSERT INTO bus_cursors (consumer, window_from, window_to, position)
     SELECT $1, horizon, horizon, 0 FROM pg_snapshot_xmin(pg_current_snapshot()) AS horizon ON CONFLICT DO NOTHING`,
    [consumer],
  )
}

function leadership(client: pg.PoolClient, consumer: string, traces: RunTraces): Leadership {
  // Only who publishes tells of traces.
  const traceparent =
    traces.areMade && consumer === 'kafka'
      ? '(SELECT e.traceparent FROM executions e WHERE e.id = t.execution_id)'
      : 'NULL::text'
  return {
    async cursor() {
      const read = () =>
        client.query<Record<keyof Cursor, string>>({
          name: 'outbox-cursor',
          text: 'SELECT window_from AS "from", window_to AS "to", position FROM bus_cursors WHERE consumer = $1',
          values: [consumer],
        })
      let { rows } = await read()
      if (rows.length === 0) {
        await begin(client, consumer)
        rows = (await read()).rows
      }
      const { from, to, position } = rows[0]!
      return { from: BigInt(from), to: BigInt(to), position: BigInt(position) }
    },
    async horizon() {
      const { rows } = await client.query<{ horizon: string }>({
        name: 'outbox-horizon',
        text: 'SELECT pg_snapshot_xmin(pg_current_snapshot()) AS horizon',
      })
      return BigInt(rows[0]!.horizon)
    },
    async read({ from, to, position }, limit) {
      const { rows } = await client.query<Row>({
        name: 'outbox-read',
        text: `SELECT execution_id AS "executionId", sequence, status, at, explanation, team, process_id AS "processId", position,
                      ${traceparent} AS traceparent
                 FROM timeline_events t
                WHERE xid >= $1::xid8 AND xid < $2::xid8 AND position > $3 ${useful[consumer] ?? ''}
                ORDER BY position LIMIT $4`,
        values: [from, to, position, limit],
      })
      return rows.map((row) => eventOf(row, traces))
    },
    async save({ from, to, position }) {
      await client.query({
        name: 'outbox-save',
        text: 'UPDATE bus_cursors SET window_from = $2::xid8, window_to = $3::xid8, position = $4 WHERE consumer = $1',
        values: [consumer, from, to, position],
      })
    },
    // Closed, so that the lock goes with it.
    async release() {
      client.release(true)
    },
  }
}

function eventOf(row: Row, traces: RunTraces): OutboxEvent {
  const { executionId, sequence, status, at, explanation, team, processId, position } = row
  const eventId = `${executionId}:${sequence}`
  const base = { eventId, executionId, team, processId, sequence, status, time: timestampFromDate(at) }
  const traceparent = traces.placeOf({ id: executionId, traceparent: row.traceparent })
  const event = create(ExecutionEventSchema, { ...base, explanation: explanation ?? undefined, traceparent })
  return { position: BigInt(position), event }
}
