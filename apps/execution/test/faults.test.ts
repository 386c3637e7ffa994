import { Status } from '@automation/contract/execution/v1/execution'
import { testDatabase, until, userContext, type TestDatabase } from '@automation/testing'
import { FaultProxy } from '@automation/testing/fault-proxy'
import type { Counter } from 'prom-client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { preparedSchema } from './prepared-schema.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'
import { Watched } from './watched.ts'

let database: TestDatabase
let proxy: FaultProxy
let system: System

beforeAll(async () => {
  database = await testDatabase(preparedSchema)
  proxy = await FaultProxy.start(database.url)
  system = new System(database, { databaseUrl: proxy.url, runnerLeaseMs: 1500, teamMaxRunning: 10 })
  await system.addReplica()
})
afterEach(async () => {
  proxy.open()
  await system.dismissRunners()
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(async () => {
  proxy.open()
  await system.stop()
  await proxy.close()
})

const says = (text: string) => (sent: Buffer) => sent.includes(text)

/** Cuts the service's connections in the midst of whatever they do. */
const cut = () =>
  system.rows(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'execution' AND datname = current_database() AND pid <> pg_backend_pid()`,
  )

/** Of runs that have FINISHED. */
async function countedEnds(): Promise<number> {
  const { values } = await (system.metrics.getSingleMetric('execution_ended_total') as Counter).get()
  return values.find(({ labels }) => labels['status'] === 'FINISHED')?.value ?? 0
}

test('a run that ends when its caller has just waited long enough is answered with its value', async () => {
  const runner = await system.runner({ runs: () => undefined })
  const { promise, resolve } = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const isProgress = says('e.status, t.explanation')
  proxy.hold((sent) => isProgress(sent) && (asked.resolve(), true), promise)
  const answer = system.run('demo', {}, 30)
  await asked.promise
  const { executionId } = await runner.run()
  runner.finish(executionId, value(7))
  await system.ended(executionId)
  resolve()
  const { status, returnValue } = await answer
  expect(status).toBe(Status.FINISHED)
  expect(Buffer.from(returnValue!).toString()).toBe('7')
  await runner.goodbye()
})

test('connections that are cut again and again lose no accepted run and double none', async () => {
  const runner = await system.runner({ slots: 6, runs: () => value(1) })
  const accepted: string[] = []
  const refused: unknown[] = []
  let cutting = true
  const cuts = (async () => {
    while (cutting) {
      await cut()
      // On a slow machine, too, something gets through between two cuts.
      const enough = accepted.length + 6
      await until(() => accepted.length >= enough || !cutting)
    }
  })()
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (accepted.length < 150)
        await system.start().then(
          (id) => accepted.push(id),
          (error) => refused.push(error),
        )
    }),
  )
  cutting = false
  await cuts
  const ends = await Promise.all(accepted.map((id) => system.endedAtLast(id)))
  for (const { timeline } of ends) expect([Status.FINISHED, Status.ERROR]).toContain(timeline.at(-1)!.status)
  // An assignment may be lost with a connection; nothing else ends as ERROR.
  for (const { status, timeline } of ends)
    if (status === Status.ERROR) expect(timeline.at(-1)!.explanation).toMatch(/^runner lost/)
  const started = runner.started.map((run) => run.executionId)
  expect(new Set(started).size).toBe(started.length)
  for (const error of refused) expect(error).toMatchObject({ kind: 'unavailable' })
  await until(async () => (await system.rows('SELECT 1 FROM executions WHERE status < 5')).length === 0)
  await runner.goodbye()
})

test('a start whose commit is unknown is there once and runs once', async () => {
  const runner = await system.runner({ slots: 6, runs: () => value(1) })
  for (const statement of ['start-granted-one', 'start-granted-one']) {
    proxy.loseAnswerTo(says(statement))
    const outcome = await system.run()
    expect(outcome.status).toBe(Status.FINISHED)
    expect(runner.started.filter((run) => run.executionId === outcome.executionId)).toHaveLength(1)
  }
  await runner.goodbye()
})

test('a start that is claimed from the queue before its unknown outcome is read runs once', async () => {
  const runner = await system.runner({ slots: 6, runs: () => undefined })
  proxy.lose(says('start-granted'))
  proxy.hold(
    says('\0start-outcomes\0'),
    until(() => runner.started.length > 0, { what: 'the claim' }),
  )
  const id = await system.start()
  expect(runner.started.map((run) => run.executionId)).toEqual([id])
  // All other slots are there for others.
  const teams = ['a', 'b', 'c', 'd', 'e']
  const others = await Promise.all(teams.map((team) => system.start(team)))
  for (const other of others) await runner.run(other)
  expect(runner.started).toHaveLength(6)
  for (const run of [...runner.started]) runner.finish(run.executionId)
  await system.ended(id)
  for (const [index, other] of others.entries()) await system.ended(other, teams[index]!)
  await runner.goodbye()
})

test('a keyed start whose commit is unknown is there once and runs once', async () => {
  const runner = await system.runner({ slots: 6, runs: () => value(1) })
  await system.run('demo', { idempotencyKey: { key: 'warm', requestHash: new Uint8Array() } })
  proxy.loseAnswerTo(says('start-keyed'))
  const outcome = await system.run('demo', { idempotencyKey: { key: 'unknown', requestHash: new Uint8Array() } })
  expect(outcome).toMatchObject({ status: Status.FINISHED, replayed: false })
  expect(runner.started).toHaveLength(2)
  await runner.goodbye()
})

test('a replay that the database does not answer is refused as unavailable, and nobody is left waiting', async () => {
  const runner = await system.runner({ runs: () => value(1) })
  const idempotencyKey = { key: 'replayed', requestHash: new Uint8Array() }
  await system.run('demo', { idempotencyKey })
  for (const statement of ['read-key', '\0status\0', 'outcomes']) {
    proxy.loseAnswerTo(says(statement))
    await expect(system.run('demo', { idempotencyKey })).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 1 })
  }
  expect(await system.run('demo', { idempotencyKey })).toMatchObject({ status: Status.FINISHED, replayed: true })
  await runner.goodbye()
})

test('an end whose commit is unknown is stored once', async () => {
  const runner = await system.runner({ slots: 6, runs: () => value('kept') })
  await system.run()
  const before = await countedEnds()
  proxy.loseAnswerTo(says('end-one'))
  const outcome = await system.run()
  expect(Buffer.from(outcome.returnValue!).toString()).toBe('"kept"')
  expect((await system.get(outcome.executionId)).timeline).toHaveLength(3)
  expect(await countedEnds()).toBe(before + 1)
  await runner.goodbye()
})

test('a result that a runner brings again is counted once', async () => {
  const runner = await system.runner({ slots: 2, runs: () => undefined })
  const before = await countedEnds()
  const id = await system.start()
  const { fence } = await runner.run(id)
  runner.finish(id, value(1), fence)
  await system.ended(id)
  runner.finish(id, value(1), fence)
  const last = await system.start()
  runner.finish((await runner.run(last)).executionId, value(2))
  await system.ended(last)
  expect(await countedEnds()).toBe(before + 2)
  await runner.goodbye()
})

test('a claim whose commit is unknown is assigned once', async () => {
  const id = await system.start()
  proxy.loseAnswerTo(says('claim'))
  const runner = await system.runner({ slots: 1, leaseMs: 1500, runs: () => value(1) })
  const { status, timeline } = await system.ended(id)
  // Within the lease it is found again; else it counts as lost. It never runs twice.
  if (status === Status.ERROR) expect(timeline.at(-1)!.explanation).toMatch(/^runner lost/)
  expect(runner.started.length).toBeLessThanOrEqual(1)
  await runner.goodbye()
})

test('while the database is away starts are refused soon, runs go on, and their results are stored when it is back', async () => {
  const runner = await system.runner({ slots: 4, runs: () => undefined })
  const outcome = system.run()
  const run = await runner.run()
  proxy.refuse()
  runner.finish(run.executionId, value('survived'))
  const began = performance.now()
  const idempotencyKey = { key: 'away', requestHash: new Uint8Array() }
  const refused = await Promise.allSettled([
    system.start(),
    system.run(),
    system.get(run.executionId),
    system.start('demo', { idempotencyKey }),
    system.run('demo', { idempotencyKey }),
  ])
  expect(performance.now() - began).toBeLessThan(20_000)
  for (const one of refused)
    expect(one).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', retryAfterS: 1 } })
  expect(runner.stored).toEqual([])
  // Its lease is over: nobody could renew, so nobody is lost.
  const leased = () => system.rows('SELECT FROM sessions WHERE ended_at IS NULL AND expires_at > now()')
  await until(async () => (await leased()).length === 0)
  expect(await until(() => runner.failure)).toMatchObject({ kind: 'unavailable' })
  proxy.open()
  expect(Buffer.from((await outcome).returnValue!).toString()).toBe('"survived"')
  expect((await system.get(run.executionId)).status).toBe(Status.FINISHED)
  await until(() => runner.stored.includes(run.executionId))
  await runner.goodbye()
})

test('where the database answers reads and refuses the writes of leases, runs go on', async () => {
  const runner = await system.runner({ runs: () => undefined })
  const id = await system.start()
  await runner.run(id)
  await system.rows(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE 'cannot execute in a read-only transaction' USING ERRCODE = '25006'; END $$`,
  )
  await system.rows(
    `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON sessions FOR EACH STATEMENT EXECUTE FUNCTION refuse()`,
  )
  const hasSession = async (condition: string) => {
    const text = `SELECT FROM sessions WHERE id = $1 AND (${condition})`
    return (await system.rows(text, [runner.sessionId])).length > 0
  }
  await until(() => hasSession('expires_at < now()'), { what: 'the end of the lease' })
  // Should it be called over at all, that is the first write to come through.
  const { promise: writable, resolve } = Promise.withResolvers<void>()
  let isCalledOver = false
  proxy.hold((sent) => says('\0expire-sessions\0')(sent) && (isCalledOver = true), writable)
  const twoMore = () => hasSession("expires_at < now() - interval '3 s'")
  await until(async () => isCalledOver || (await twoMore()), { what: 'two more leases' })
  await system.rows('DROP TRIGGER refuse ON sessions')
  resolve()
  await until(() => hasSession('expires_at > now() OR ended_at IS NOT NULL'), { what: 'a renewal' })
  expect((await system.get(id)).status).toBe(Status.RUNNING)
  runner.finish(id, value('goes on'))
  expect((await system.ended(id)).status).toBe(Status.FINISHED)
  await runner.goodbye()
})

test('a result that is sent again and again while the database is away is stored once', async () => {
  const runner = await system.runner({ slots: 1, runs: () => undefined })
  const id = await system.start()
  const { fence } = await runner.run(id)
  const send = () => runner.send(id, { case: 'result', value: { executionId: id, fence, end: value('once') } })
  proxy.refuse()
  for (let times = 0; times < 3; times++) send()
  await expect(system.get(id)).rejects.toMatchObject({ kind: 'unavailable' })
  send()
  expect(runner.stored).toEqual([])
  proxy.open()
  await until(() => runner.stored.includes(id))
  const before = runner.stored.length
  send()
  await until(() => runner.stored.length > before)
  const { timeline, returnValue } = await system.get(id)
  expect(timeline.filter(({ status }) => status === Status.FINISHED)).toHaveLength(1)
  expect(Buffer.from(returnValue!).toString()).toBe('"once"')
  await runner.goodbye()
})

test('a frozen database has every start answered long before its caller gives up', async () => {
  const runner = await system.runner({ slots: 4, runs: () => value(1) })
  await system.run()
  proxy.freeze()
  const began = performance.now()
  const calls = await Promise.allSettled([system.start(), system.start(), system.start('other')])
  expect(performance.now() - began).toBeLessThan(20_000)
  for (const one of calls) expect(one).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } })
  proxy.open()
  await until(() =>
    system.run().then(
      ({ status }) => status === Status.FINISHED,
      () => false,
    ),
  )
  await runner.goodbye()
  await until(async () => (await system.rows('SELECT 1 FROM executions WHERE status IN (2, 4)')).length === 0)
  await system.executions.listExecutions({}, userContext('demo'))
})

test('the first start on a database that is slow takes the time that it takes', async () => {
  const own = await testDatabase()
  const slow = await FaultProxy.start(own.url)
  // Longer than any other statement may take.
  slow.hold(says('ATTACH PARTITION'), new Promise((resolve) => setTimeout(resolve, 5000)))
  const other = new System(own, { databaseUrl: slow.url })
  await other.addReplica()
  await other.runner({ runs: () => value(1) })
  expect((await other.run()).status).toBe(Status.FINISHED)
  await other.stop()
  await slow.close()
})

test('a live stream outlasts a database that is away for a while', async () => {
  const runner = await system.runner({ slots: 1, runs: () => undefined })
  const id = await system.start()
  await runner.run(id)
  const reader = new Watched(system.replicas[0]!, id)
  await reader.has('RUNNING')
  proxy.refuse()
  runner.finish(id)
  await expect(new Watched(system.replicas[0]!, id).opened).rejects.toMatchObject({ kind: 'unavailable' })
  proxy.open()
  await reader.done
  expect(reader.observed).toEqual(['CREATED', 'RUNNING', 'FINISHED', 'end FINISHED'])
  await runner.goodbye()
})
