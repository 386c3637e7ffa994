import { Status } from '@automation/contract/execution/v1/execution'
import { Failure } from '@automation/errors'
import { testDatabase, until, type TestDatabase } from '@automation/testing'
import { FaultProxy } from '@automation/testing/fault-proxy'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { broken, failing, handled, handlerRun, warnings } from './failures.ts'
import type { ExecutionConfig } from '../src/service.ts'
import { preparedSchema } from './prepared-schema.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await startSystem()
})
afterEach(async () => {
  system.catalog.failures.clear()
  await system.dismissRunners()
  expect(await brokenInvariants(system)).toEqual([])
})
afterAll(() => system.stop())

async function startSystem(settings: Partial<ExecutionConfig> = {}, database?: TestDatabase): Promise<System> {
  const started = await (database === undefined ? System.start(settings) : System.on(database, settings))
  for (const slug of ['fails', 'mends']) started.catalog.put(slug)
  for (const team of ['demo', 'other']) started.catalog.errorHandlers.set(team, { processSlug: 'mends' })
  // With the first run of a team its cell is asked for.
  await started.runner({ slots: 1, runs: failing })
  for (const team of ['demo', 'other']) await started.run(team, { identifier: 'mends' })
  await started.dismissRunners()
  return started
}

const fail = async (team = 'demo', of = system) => (await of.run(team, { identifier: 'fails' })).executionId
const internal = () => new Failure('internal', 'internal_error', 'Internal error')

test('one that can not be started for long is given up: the log of the failed run says so', async () => {
  const hasty = await startSystem({ errorHandlerPatienceMs: 500 })
  onTestFinished(() => hasty.stop())
  await hasty.runner({ slots: 4, runs: failing })
  hasty.catalog.failures.set('getTeam demo', internal())
  const id = await fail('demo', hasty)
  const warning = await until(async () => (await warnings(hasty, id))[0])
  expect(warning).toBe('The error handler of the team was not started: Internal error')
  expect(await hasty.metrics.metrics()).toContain('execution_error_handlers_total{outcome="given_up"} 1')
  hasty.catalog.failures.clear()
  await handlerRun(hasty, await fail('demo', hasty))
  expect((await handled(hasty, 'demo')).has(id)).toBe(false)
  expect(await warnings(hasty, id)).toHaveLength(1)
  await hasty.dismissRunners()
  expect(await brokenInvariants(hasty)).toEqual([])
})

test('one that is given up for a run which is removed meanwhile leaves no log behind', async () => {
  const database = await testDatabase(preparedSchema)
  const way = await FaultProxy.start(database.url)
  onTestFinished(() => way.close())
  const hasty = await startSystem({ errorHandlerPatienceMs: 500, databaseUrl: way.url }, database)
  onTestFinished(() => hasty.stop())
  const [asked, removed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  way.hold((sent) => sent.includes('\0error-handler-give-up\0') && (asked.resolve(), true), removed.promise)
  await hasty.runner({ slots: 4, runs: failing })
  hasty.catalog.failures.set('getTeam demo', internal())
  const id = await fail('demo', hasty)
  await asked.promise
  for (const [table, column] of [
    ['log_chunks', 'execution_id'],
    ['timeline_events', 'execution_id'],
    ['executions', 'id'],
  ])
    await hasty.rows(`DELETE FROM ${table} WHERE ${column} = $1`, [id])
  removed.resolve()
  await until(async () => (await hasty.rows('SELECT FROM start_keys WHERE key = $1', [id])).length === 1)
  expect(await hasty.rows('SELECT FROM log_chunks WHERE execution_id = $1', [id])).toEqual([])
})

test.each(['internal', 'unauthenticated', 'resource_exhausted', 'unavailable', 'deadline_exceeded'] as const)(
  'while the catalog answers for a team with %s its handlers wait, and those of others run',
  async (kind) => {
    await system.runner({ slots: 4, runs: failing })
    system.catalog.failures.set('getTeam demo', new Failure(kind, kind, 'Not now'))
    const before = system.catalog.asked
    const [waiting] = (await Promise.all(Array.from({ length: 10 }, () => fail()))) as [string, ...string[]]
    await until(() => system.catalog.asked > before + 14)
    await handlerRun(system, await fail('other'), 'other')
    expect((await handled(system, 'demo')).has(waiting)).toBe(false)
    system.catalog.failures.clear()
    expect((await handlerRun(system, waiting)).status).toBe(Status.FINISHED)
    expect(await warnings(system, waiting)).toEqual([])
  },
)

test('a handler that can not be started for the moment is started later', async () => {
  const runner = await system.runner({ slots: 2, runs: (run, it) => (run.comment ? undefined : failing(run, it)) })
  const id = await system.start('demo', { identifier: 'fails', comment: 'goes on' })
  await runner.run(id)
  system.catalog.failures.set('resolveRun demo', internal())
  const before = system.catalog.asked
  runner.finish(id, broken)
  // Each attempt asks for the team and for the process.
  await until(() => system.catalog.asked > before + 4)
  system.catalog.failures.clear()
  await handlerRun(system, id)
  expect(await warnings(system, id)).toEqual([])
})
