import { Status } from '@automation/contract/execution/v1/execution'
import { testDatabase, until, userContext } from '@automation/testing'
import { hasPgBouncer, startPgBouncer, type PgBouncer } from '@automation/testing/pgbouncer'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { preparedSchema } from './prepared-schema.ts'
import { nothing } from './scripted-runner.ts'
import { System } from './system.ts'

describe.skipIf(!hasPgBouncer)('two replicas through PgBouncer in transaction mode, with 20 connections in all', () => {
  let system: System
  let pooler: PgBouncer

  beforeAll(async () => {
    const database = await testDatabase(preparedSchema)
    pooler = await startPgBouncer(database.url, 20)
    system = await System.on(database, { databaseUrl: pooler.url, teamMaxRunning: 8 }, 2)
  })
  afterEach(async () => expect(await brokenInvariants(system)).toEqual([]))
  afterAll(async () => {
    await system?.stop()
    await pooler?.stop()
  })

  test('runs of both start once and end, and those that are killed never start', async () => {
    const waiting = await Promise.all(Array.from({ length: 20 }, () => system.start('waits')))
    for (const id of waiting.slice(0, 5)) await system.executions.killExecution({ id }, userContext('waits'))
    const runner = await system.runner({ slots: 10, runs: () => nothing })
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        system.replicas[index % 2]!.executions.runExecution(
          { start: { identifier: 'hello' }, waitMs: 30_000 },
          userContext('demo'),
        ),
      ),
    )
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([Status.FINISHED]))
    const ended = await Promise.all(waiting.map((id) => system.ended(id, 'waits')))
    expect(ended.map(({ status }) => status)).toEqual(
      waiting.map((_, at) => (at < 5 ? Status.KILLED : Status.FINISHED)),
    )
    const ids = runner.started.map(({ executionId }) => executionId)
    expect(new Set(ids).size).toBe(115)
    expect(ids).toHaveLength(115)
    await runner.goodbye()
  })

  test('one replica leads each consumer of events, and the other goes on when it stops', async () => {
    // Who started what is written down from events.
    const isRecorded = (id: string) => until(() => system.audit.records(id).length > 0)
    const runner = await system.runner({ slots: 2, runs: () => nothing })
    await isRecorded(await system.start('led'))
    const [first] = system.replicas
    await first!.part.stop(0)
    system.forget(first!)
    const other = await system.runner({ slots: 2, runs: () => nothing })
    await isRecorded(await system.start('led'))
    await Promise.all([runner.goodbye(), other.goodbye()])
  })
})
