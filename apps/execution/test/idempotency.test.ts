import { Status } from '@automation/contract/execution/v1/execution'
import { until, userContext } from '@automation/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({}, 2)
})
afterEach(async () => expect(await brokenInvariants(system)).toEqual([]))
afterAll(() => system.stop())

const keyed = (key: string, hash = 'body') => ({ idempotencyKey: { key, requestHash: Buffer.from(hash) } })

test('the same key at the same time, from both replicas, gives one execution and the same answer to all', async () => {
  const runner = await system.runner({ slots: 20, runs: () => value('once') })
  const start = { identifier: 'hello', ...keyed('concurrent') }
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      system.replicas[index % 2]!.executions.runExecution({ start, waitMs: 10_000 }, userContext('demo')),
    ),
  )
  expect(new Set(outcomes.map(({ executionId }) => executionId)).size).toBe(1)
  expect(outcomes.filter(({ replayed }) => !replayed)).toHaveLength(1)
  for (const { returnValue } of outcomes) expect(Buffer.from(returnValue!).toString()).toBe('"once"')
  expect(runner.started).toHaveLength(1)
  await runner.goodbye()
  // Nobody waits any more but who asks from here on.
  const asked = system.replicas.map(({ executions }) =>
    executions.runExecution({ start: { identifier: 'hello' }, waitMs: 60_000 }, userContext('demo')),
  )
  for (const { metrics } of system.replicas) {
    const callers = async () => Number(/^execution_sync_callers (\d+)$/m.exec(await metrics.metrics())?.[1])
    const some = async () => ((await callers()) > 0 ? callers() : undefined)
    expect(await until(some)).toBe(1)
  }
  const last = await system.runner()
  await Promise.all(asked)
  await last.goodbye()
})

test('a replay during the run waits for it; later the answer is made from the record', async () => {
  const runner = await system.runner({ runs: () => undefined })
  const first = system.run('demo', keyed('during'))
  const run = await runner.run()
  const second = system.run('demo', keyed('during'))
  runner.finish(run.executionId, value(5))
  expect(await first).toMatchObject({ executionId: run.executionId, replayed: false })
  expect(await second).toMatchObject({ executionId: run.executionId, replayed: true, status: Status.FINISHED })
  const later = await system.run('demo', keyed('during'))
  expect(Buffer.from(later.returnValue!).toString()).toBe('5')
  expect(
    await system.executions.startExecution({ identifier: 'hello', ...keyed('during') }, userContext('demo')),
  ).toMatchObject({ executionId: run.executionId, replayed: true, status: Status.CREATED })
  expect(runner.started).toHaveLength(1)
  await runner.goodbye()
})

test('another request under the same key is refused; other processes and teams have keys of their own', async () => {
  const runner = await system.runner()
  const id = await system.start('demo', keyed('mine'))
  await expect(system.start('demo', keyed('mine', 'other'))).rejects.toMatchObject({
    kind: 'already_exists',
    code: 'idempotency_key_reused',
  })
  system.catalog.put('second')
  const others = [
    await system.start('demo', { identifier: 'second', ...keyed('mine') }),
    await system.start('rival', keyed('mine')),
  ]
  expect(new Set([id, ...others]).size).toBe(3)
  await Promise.all([system.ended(id), system.ended(others[0]!), system.ended(others[1]!, 'rival')])
  await runner.goodbye()
})

test('a transient value is not kept for a replay', async () => {
  const runner = await system.runner({ runs: () => value('fleeting', true) })
  const { executionId } = await system.run('demo', keyed('transient'))
  await expect(system.run('demo', keyed('transient'))).rejects.toMatchObject({
    kind: 'already_exists',
    code: 'result_not_kept',
    executionId,
  })
  await runner.goodbye()
})

test('a key whose time is over starts anew', async () => {
  const runner = await system.runner()
  const first = await system.start('demo', keyed('old'))
  await system.ended(first)
  await system.rows("UPDATE start_keys SET expires_at = now() - interval '1 s' WHERE key = 'old'")
  const second = await system.start('demo', keyed('old', 'another body'))
  expect(second).not.toBe(first)
  await system.ended(second)
  await runner.goodbye()
})

test('a key answers although the process has changed its schema since', async () => {
  const runner = await system.runner()
  system.catalog.put('strict')
  const init = { identifier: 'strict', ...keyed('schema') }
  const id = await system.start('demo', init)
  await system.ended(id)
  system.catalog.put('strict', { enforcedSchema: '{"required":["name"]}' })
  expect(await system.start('demo', init)).toBe(id)
  await runner.goodbye()
})
