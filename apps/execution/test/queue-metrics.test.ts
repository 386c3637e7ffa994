import { until } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { System } from './system.ts'

let system: System
beforeAll(async () => {
  system = await System.start({ pools: ['default', 'big', 'idle', 'empty'], measureMs: 300 })
})
afterAll(() => system.stop())

/** The value of a series; undefined while nobody has told it. */
async function valueOf(series: string): Promise<number | undefined> {
  const line = (await system.metrics.metrics()).split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}
const untilIs = (series: string, value: number) =>
  until(async () => (await valueOf(series)) === value, { what: `${series} is ${value}`, timeoutMs: 20_000 })

// These wait for what is measured, and for what grows with time, together.
test.concurrent('metrics tell how many runs wait in each pool, and for how long the first of them has', async () => {
  for (const team of ['demo', 'demo', 'other']) await system.start(team)
  await untilIs('execution_queue{pool="default"}', 3)
  expect(await valueOf('execution_queue{pool="empty"}')).toBe(0)
  expect(await valueOf('execution_queue_oldest_seconds{pool="empty"}')).toBe(0)
  const waited = await valueOf('execution_queue_oldest_seconds{pool="default"}')
  expect(waited).toBeGreaterThan(0)
  expect(waited).toBeLessThan(60)
  await system.runner()
  await untilIs('execution_queue{pool="default"}', 0)
  await untilIs('execution_queue_oldest_seconds{pool="default"}', 0)
})

test.concurrent('runs of a suspended team wait for its operator, not for a runner: no metric asks for one', async () => {
  for (const team of ['away', 'other']) await system.start(team, { settings: { agentPool: 'big' } })
  await untilIs('execution_queue{pool="big"}', 2)
  system.catalog.suspended.push('away')
  await untilIs('execution_queue{pool="big"}', 1)
})

test.concurrent('metrics tell how long events have waited for a consumer', async () => {
  const { part } = system.replicas[0]!
  let isStuck = true
  part.events.subscribe('stuck', async () => {
    if (isStuck) throw new Error('not now')
  })
  await until(async () => (await system.sql.query("SELECT FROM bus_cursors WHERE consumer = 'stuck'")).rowCount)
  await system.start('demo', { settings: { agentPool: 'idle' } })
  await until(async () => ((await valueOf('execution_event_oldest_seconds{consumer="stuck"}')) ?? 0) > 3, {
    timeoutMs: 30_000,
  })
  expect(await valueOf('execution_event_backlog{consumer="stuck"}')).toBeGreaterThan(0)
  isStuck = false
  await untilIs('execution_event_backlog{consumer="stuck"}', 0)
  await untilIs('execution_event_oldest_seconds{consumer="stuck"}', 0)
})

test('the delay of starts tells of runs that waited for a runner, and of those that did not', async () => {
  const count = async () => (await valueOf('execution_start_delay_seconds_count')) ?? 0
  const before = await count()
  expect(before).toBe(3)
  expect(await valueOf('execution_start_delay_seconds_sum')).toBeGreaterThan(0)
  await system.run()
  expect(await count()).toBe(before + 1)
})

test('no consumer is behind when nothing happens, also those that have a use for few events', async () => {
  const behind = (consumer: string) => `execution_event_oldest_seconds{consumer="${consumer}"}`
  const consumers = ['audit', 'callbacks', 'error-handlers']
  const holder = await system.sql.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT FROM bus_cursors FOR UPDATE')
  await system.run()
  for (const consumer of consumers) await until(async () => (await valueOf(behind(consumer)))! > 0)
  await holder.query('COMMIT')
  holder.release()
  for (const consumer of consumers) await untilIs(behind(consumer), 0)
})
