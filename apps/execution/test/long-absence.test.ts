import { createHash } from 'node:crypto'
import { LogLevel, Status } from '@automation/contract/execution/v1/execution'
import type { Run } from '@automation/contract/runner/v1/runner'
import { until, userContext } from '@automation/testing'
import pg from 'pg'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { Partitions } from '../src/store/partitions.ts'
import { age, agedId, dayMs } from './aged.ts'
import { brokenInvariants } from './invariants.ts'
import { value, type End, type ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System

beforeEach(async () => {
  system = await System.start({ retentionDays: 5, partitionDays: 2 })
})
afterEach(async () => {
  await system.dismissRunners()
  expect(await brokenInvariants(system)).toEqual([])
  await system.stop()
})

const page = { page: 0, limit: 100 }
const key = { key: 'once', requestHash: createHash('sha256').update('the same').digest() }

/** Ends runs with a line in their log. */
function logging(run: Run, runner: ScriptedRunner): End {
  const { executionId, fence } = run
  const entries = [{ timeUs: 1n, level: LogLevel.INFO, message: 'said' }]
  runner.send(executionId, { case: 'logs', value: { executionId, fence, chunk: { first: 0, entries } } })
  return value(1)
}

const readers: [string, (id: string) => Promise<unknown>][] = [
  ['the execution', (id) => system.get(id)],
  ['its log', (id) => system.executions.listLogs({ executionId: id, page }, userContext('demo'))],
  [
    'its stream',
    async (id) => {
      const stream = system.executions.watchExecution({ executionId: id }, userContext('demo'))
      return Array.fromAsync(stream)
    },
  ],
  ['a kill', (id) => system.executions.killExecution({ id }, userContext('demo'))],
  ['a rerun', (id) => system.executions.rerunExecution({ id }, userContext('demo'))],
]

async function partitionDays(): Promise<string> {
  const checks = await system.replicas[0]!.part.ready()
  const { ok, detail } = checks.find(({ name }) => name === 'partitions')!
  return `${ok} ${detail}`
}

/** Tables of days that ended more than this many days ago. */
async function tablesBefore(days: number): Promise<string[]> {
  const day = new Date(Date.now() - days * dayMs).toISOString().slice(0, 10).replaceAll('-', '')
  const rows = await system.rows<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname ~ '_[0-9]{8}$' AND right(relname, 8) < $1`,
    [day],
  )
  return rows.map(({ name }) => name)
}

test('a service that was off for longer than it has partitions ahead takes runs at once, and goes on with what waited', async () => {
  const { executionId: waits } = await system.executions.startExecution({ identifier: 'hello' }, userContext('demo'))
  await system.runner({ runs: logging })
  const done = await system.run('demo', { idempotencyKey: key })
  await system.ended(waits)
  await system.dismissRunners()
  const left = await system.start()
  await age(system, 4, 2)
  await system.addReplica()
  expect(await partitionDays()).toBe('true for 2 days ahead')
  await system.runner({ runs: logging })
  const first = await system.run('demo', { idempotencyKey: key })
  expect([first.status, first.replayed]).toEqual([Status.FINISHED, false])
  const old = agedId(done.executionId, 4)
  for (const [what, read] of readers.slice(0, 3)) expect(await read(old), what).toBeTruthy()
  expect((await system.ended(agedId(left, 4))).status).toBe(Status.FINISHED)
  const { executions } = await system.executions.listExecutions({ page }, userContext('demo'))
  expect(executions.map(({ id }) => id)).toEqual([
    first.executionId,
    ...[left, done.executionId, waits].map((id) => agedId(id, 4)),
  ])
})

test('what is past retention goes as a whole, and whoever reads it finds nothing', async () => {
  await system.runner({ runs: logging })
  const done = await system.run('demo', { idempotencyKey: key })
  await system.dismissRunners()
  const waits = await system.start()
  await age(system, 8, 2)
  await system.addReplica()
  await system.runner({ runs: logging })
  const first = await system.run('demo', { idempotencyKey: key })
  expect([first.status, first.replayed]).toEqual([Status.FINISHED, false])
  await until(async () => (await tablesBefore(5)).length === 0, { timeoutMs: 20_000 })
  // Slots are counted anew once their runs are gone.
  await until(async () => (await brokenInvariants(system)).length === 0)
  for (const id of [done.executionId, waits])
    for (const [what, read] of readers)
      await expect(read(agedId(id, 8)), what).rejects.toMatchObject({ code: 'execution_not_found' })
  const list = await system.executions.listExecutions({ page }, userContext('demo'))
  expect(list.executions.map(({ id }) => id)).toEqual([first.executionId])
  for (const table of ['timeline_events', 'log_chunks', 'start_keys'])
    expect(await system.rows(`SELECT DISTINCT execution_id AS id FROM ${table}`), table).toEqual([
      { id: first.executionId },
    ])
})

test('while somebody still reads what retention drops, runs are taken and days are made; it goes when the reader is done', async () => {
  await system.runner()
  await system.run()
  await age(system, 8, 2)
  const { connectionString, options } = system.sql.options
  const reader = new pg.Client({ connectionString, options })
  onTestFinished(() => reader.end())
  await reader.connect()
  await reader.query('BEGIN')
  await reader.query('SELECT FROM executions')
  await system.addReplica()
  await system.runner({ slots: 20 })
  const detaching = async () => (await system.rows('SELECT FROM pg_inherits WHERE inhdetachpending')).length > 0
  await until(detaching, { timeoutMs: 20_000 })
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => system.run()))
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([Status.FINISHED]))
  const partitions = new Partitions({ pool: system.sql }, 2)
  await partitions.ensure(Date.now() + 4 * dayMs)
  expect(partitions.daysAhead(Date.now() + 4 * dayMs)).toBe(2)
  expect(await detaching()).toBe(true)
  await reader.end()
  await until(async () => (await tablesBefore(5)).length === 0, { timeoutMs: 20_000 })
  expect((await system.run()).status).toBe(Status.FINISHED)
})
