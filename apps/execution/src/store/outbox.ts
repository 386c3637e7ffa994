import { ExecutionEventSchema } from '@automation/contract/events/v1/execution_event'
import { Status } from '@automation/contract/execution/v1/execution'
import { holdLock, type HeldLock } from '@automation/database'
import type { Cursor, Leadership, Outbox, OutboxEvent, Waiting } from '@automation/events'
import { installsProcessId } from '@automation/contract/installs'
import type { Logger } from '@automation/service'
import { create } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type pg from 'pg'
import type { Connections } from './connections.ts'
import type { RunTraces } from '../run-traces.ts'
import { endedStatuses } from './statuses.ts'
import { eventNumbers, isWaiting } from './event-numbers.ts'

interface Row {
  executionId: string
  sequence: number
  status: Status
  at: Date
  team: string
  processId: string
  position: string
  traceparent: string | null
}

/** Who writes down who started what. */
export const startRecordsReader = 'audit'
/** Who runs the error handlers of teams. */
export const errorHandlersReader = 'error-handlers'

/** What a consumer has a use for, where that is little of all: the rest is not read for it. */
const useful: Record<string, string> = {
  // A value, not EXISTS: as a join it may begin with all the executions that are kept, where next to none has a callback.
  callbacks: `AND t.status IN ${endedStatuses}
    AND (SELECT e.callback_url IS NOT NULL FROM executions e WHERE e.id = t.execution_id)`,
  // The first event of each, but of installs.
  [startRecordsReader]: `AND t.sequence = 1 AND t.process_id <> '${installsProcessId}'`,
  [errorHandlersReader]: `AND t.status = ${Status.ERROR}`,
}

/** The timeline as an outbox. Who leads holds an advisory lock, and does all else on its connection. */
export class TimelineOutbox implements Outbox {
  readonly #connections: Connections
  readonly #traces: RunTraces
  readonly #logger: Logger

  /** `connections`: one for each consumer. */
  constructor(connections: Connections, traces: RunTraces, logger: Logger) {
    this.#connections = connections
    this.#traces = traces
    this.#logger = logger
  }

  async lead(consumer: string): Promise<Leadership | undefined> {
    const lock = await holdLock(this.#connections.pool, `events for ${consumer}`)
    if (lock === undefined) return undefined
    try {
      // Another connection may have found another server.
      const added = await eventNumbers(lock.client, this.#logger)
      return leadership({ lock, consumer, traces: this.#traces, added })
    } catch (error) {
      lock.release()
      throw error
    }
  }

  /** Lets consumers begin now, unless they have begun before. */
  async register(consumers: string[]): Promise<void> {
    const client = await this.#connections.pool.connect()
    let failure: Error | undefined
    try {
      const added = await eventNumbers(client, this.#logger)
      for (const consumer of consumers) await begin(client, consumer, added)
    } catch (error) {
      failure = error as Error
      throw error
    } finally {
      client.release(failure)
    }
  }

  /** Counts up to 100,000. */
  async backlog(consumer: string): Promise<Waiting> {
    const { rows } = await this.#connections.query<Waiting>({
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

async function begin(client: pg.PoolClient, consumer: string, added: bigint): Promise<void> {
  await client.query(
    `INSERT INTO bus_cursors (consumer, window_from, window_to, position)
     VALUES ($1, $2::text::xid8, $2::text::xid8, 0) ON CONFLICT DO NOTHING`,
    [consumer, await horizonOf(client, added)],
  )
}

async function horizonOf(client: pg.PoolClient, added: bigint): Promise<bigint> {
  const { rows } = await client.query<{ horizon: string }>({
    name: 'outbox-horizon',
    text: 'SELECT pg_snapshot_xmin(pg_current_snapshot()) AS horizon',
  })
  return BigInt(rows[0]!.horizon) + added
}

interface Leading {
  lock: HeldLock
  consumer: string
  traces: RunTraces
  /** What the numbers of events are ahead of those of transactions. */
  added: bigint
}

function leadership({ lock, consumer, traces, added }: Leading): Leadership {
  const { client } = lock
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
        await begin(client, consumer, added)
        rows = (await read()).rows
      }
      const { from, to, position } = rows[0]!
      return { from: BigInt(from), to: BigInt(to), position: BigInt(position) }
    },
    horizon: () => horizonOf(client, added),
    async read({ from, to, position }, limit) {
      const { rows } = await client.query<Row>({
        name: 'outbox-read',
        text: `SELECT execution_id AS "executionId", sequence, status, at, team, process_id AS "processId", position,
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
    async release() {
      lock.release()
    },
  }
}

function eventOf(row: Row, traces: RunTraces): OutboxEvent {
  const { executionId, sequence, status, at, team, processId, position } = row
  const eventId = `${executionId}:${sequence}`
  const base = { eventId, executionId, team, processId, sequence, status, time: timestampFromDate(at) }
  const traceparent = traces.contextOf({ id: executionId, traceparent: row.traceparent })
  return { position: BigInt(position), event: create(ExecutionEventSchema, { ...base, traceparent }) }
}
