import { migrate } from '@automation/database'
import { Status } from '@automation/contract/execution/v1/execution'
import type { KafkaConfig } from '@automation/events'
import { restoredDatabase, silentLogger, testDatabase, until } from '@automation/testing'
import { expect, describe, test } from 'vitest'
import { newExecutionId } from '../src/execution-id.ts'
import { executionSchema } from '../src/service.ts'
import { failing, handled } from './failures.ts'
import { brokers, kafka } from './kafka-for-tests.ts'
import { preparedSchema } from './prepared-schema.ts'
import { Receiver } from './receiver.ts'
import { System } from './system.ts'

/** Transactions that the first server has had, more than the second one has when the service is started on it. */
const manyTransactions = `DO $$ BEGIN
  FOR count IN 1..20000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP;
END $$`
const readers = ['callbacks', 'error-handlers', 'audit', 'kafka']

function afterRestore(name: string, bus: () => KafkaConfig | undefined): void {
  test(`after a logical restore into another server nothing that happened is forgotten or done twice, ${name}`, async () => {
    const receiver = await Receiver.start()
    const config = { egressAllow: ['127.0.0.0/8'], callbackPauseMs: 20, teamMaxRunning: 100, kafka: bus() }
    const database = await testDatabase(preparedSchema)
    const before = await systemOn(database)
    await before.sql.query(manyTransactions)
    await before.addReplica()
    const done = await runs(before, 3)
    await allDone(before, done)

    // What happens from here on nobody has reacted to when the database is dumped.
    await before.replicas[0]!.part.stop(0)
    before.forget(before.replicas[0]!)
    const locks = readers.map((reader) => `pg_advisory_lock(hashtextextended('events for ${reader}', 0))`)
    const held = await before.sql.connect()
    await held.query(`SELECT ${locks.join()}`)
    await before.addReplica()
    const open = await runs(before, 3)
    await before.replicas[0]!.part.stop(0)
    before.forget(before.replicas[0]!)
    held.release(true)
    expect(receiver.received).toHaveLength(6)

    const restored = await restoredDatabase(database, (url) =>
      migrate({ ...executionSchema, url, logger: silentLogger }),
    )
    await before.stop()
    const after = await systemOn(restored)
    const late = await writtenByOthers(after, done[0]!)
    await after.addReplica()
    const fresh = await runs(after, 10)
    await allDone(after, [late, ...open, ...fresh])
    const called = receiver.received.map(({ body }) => String(body['executionId']))
    expect(called.toSorted()).toEqual([...done, late, ...open, ...fresh].toSorted())
    expect(called.length).toBe(new Set(called).size)
    expect(done.map((id) => after.audit.of(id))).toEqual(done.map(() => []))
    const handlers = await handled(after, 'demo')
    expect([...handlers.values()].map((runs) => runs.length)).toEqual(Array.from({ length: 16 }, () => 1))
    await after.stop()
    receiver.close()

    /** A run as replicas write it that were not stopped for the restore; one of before is the pattern. Gives its id. */
    async function writtenByOthers(system: System, pattern: string): Promise<string> {
      const id = newExecutionId()
      const values = [pattern, id]
      await system.rows(
        `INSERT INTO executions SELECT (jsonb_populate_record(e, jsonb_build_object('id', $2::uuid))).* FROM executions e WHERE id = $1`,
        values,
      )
      await system.rows(
        `INSERT INTO timeline_events (execution_id, sequence, status, at, team, process_id)
         SELECT $2, sequence, status, now(), team, process_id FROM timeline_events WHERE execution_id = $1 ORDER BY sequence`,
        values,
      )
      return id
    }

    async function systemOn(on: typeof database): Promise<System> {
      const system = new System(on, config)
      system.catalog.put('fails')
      system.catalog.put('mends')
      system.catalog.errorHandlers.set('demo', { processSlug: 'mends' })
      return system
    }

    /** Runs that succeed, and as many that fail; gives their ids. */
    async function runs(system: System, count: number): Promise<string[]> {
      await system.runner({ runs: failing })
      const settings = { callbackUrl: receiver.url }
      const outcomes = await Promise.all(
        Array.from({ length: count }, () => [
          system.run('demo', { settings }),
          system.run('demo', { identifier: 'fails', settings }),
        ]).flat(),
      )
      await system.dismissRunners()
      expect(outcomes.filter(({ status }) => status === Status.ERROR)).toHaveLength(count)
      return outcomes.map(({ executionId }) => executionId)
    }

    /** Waits until all that follows from these runs is done. */
    async function allDone(system: System, ids: string[]): Promise<void> {
      const what = 'callbacks, error handlers and audit records'
      const isDone = async () => {
        const called = new Set(receiver.received.map(({ body }) => body['executionId']))
        const failed = await system.rows<{ id: string }>(
          'SELECT id FROM executions WHERE id = ANY ($1) AND status = $2',
          [ids, Status.ERROR],
        )
        const handlers = await handled(system, 'demo')
        return (
          ids.every((id) => called.has(id) && system.audit.of(id).length === 1) &&
          failed.every(({ id }) => handlers.get(id)?.length === 1)
        )
      }
      await until(isDone, { timeoutMs: 20_000, what })
    }
  })
}

describe('events', { timeout: 90_000 }, () => {
  afterRestore('in process', () => undefined)
  if (brokers.length > 0) afterRestore('over Kafka', () => kafka())
})
