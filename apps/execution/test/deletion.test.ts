import { Status } from '@automation/contract/execution/v1/execution'
import { serviceContext, until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { brokenInvariants } from './invariants.ts'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System

beforeAll(async () => {
  system = await System.start({ teamMaxRunning: 5 })
})
afterAll(() => system.stop())

const deleteProcess = (processId: string, team = 'demo') =>
  system.executions.deleteProcessExecutions({ team, processId }, serviceContext('process-catalog'))

test('the executions of a deleted process are killed and hidden at once, and removed in the background', async () => {
  const processId = system.catalog.put('doomed')
  const runner = await system.runner({ slots: 20, runs: () => undefined })
  const ids = await Promise.all(Array.from({ length: 12 }, () => system.start('demo', { identifier: 'doomed' })))
  const other = await system.start('other', { identifier: 'doomed' })
  await until(() => runner.started.length === 6)
  await deleteProcess(processId)
  expect(
    await system.rows('SELECT 1 FROM executions WHERE team = $1 AND status <> $2', ['demo', Status.KILLED]),
  ).toEqual([])
  for (const id of ids) await expect(system.get(id)).rejects.toMatchObject({ code: 'execution_not_found' })
  expect((await system.executions.listExecutions({ processId }, userContext('demo'))).page!.total).toBe(0)
  await until(() => runner.killed.length === 5)
  expect((await system.get(other, 'other')).status).toBe(Status.RUNNING)
  expect(await brokenInvariants(system)).toEqual([])
  await deleteProcess(processId)
  await until(async () => (await system.rows("SELECT 1 FROM executions WHERE team = 'demo'")).length === 0)
  expect(await system.rows("SELECT 1 FROM timeline_events WHERE team = 'demo'")).toEqual([])
  await until(async () => (await system.rows("SELECT 1 FROM process_names WHERE team = 'demo'")).length === 0)
  runner.finish(other)
  await system.ended(other, 'other')
  await runner.goodbye()
})

test('runs of a deleted process stay until its readers have seen their events, and wait for no reader of the past', async () => {
  const processId = system.catalog.put('read')
  await system.rows("INSERT INTO bus_cursors VALUES ('of-another-configuration', '3', '3', 0)")
  const started = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const { events } = system.replicas[0]!.part
  const reader = events.subscribe('slow', async (heard) => {
    if (!heard.some((event) => event.processId === processId)) return
    started.resolve()
    await held.promise
  })
  await until(async () => (await system.rows("SELECT FROM bus_cursors WHERE consumer = 'slow'")).length === 1)
  await system.start('demo', { identifier: 'read' })
  await started.promise
  await deleteProcess(processId)
  const left = async () => (await system.rows('SELECT FROM executions WHERE process_id = $1', [processId])).length
  // Swept every five seconds, and another process after this one.
  const next = system.catalog.put('swept-next')
  await deleteProcess(next)
  const sweptNext = 'SELECT FROM deleted_processes WHERE process_id = $1 AND removed_at IS NOT NULL'
  await until(async () => (await system.rows(sweptNext, [next])).length === 1)
  expect(await left()).toBe(1)
  held.resolve()
  await until(async () => (await left()) === 0, { timeoutMs: 15_000 })
  await reader.close()
})

test('what comes late for a deleted process is refused', async () => {
  const processId = system.catalog.put('late')
  await deleteProcess(processId)
  await expect(system.start('demo', { identifier: 'late' })).rejects.toMatchObject({ code: 'process_not_found' })
  const runner = await system.runner({ runs: () => value(1) })
  await expect(system.run('demo', { identifier: 'late' })).rejects.toMatchObject({ code: 'process_not_found' })
  const keyed = { identifier: 'late', idempotencyKey: { key: 'k', requestHash: new Uint8Array() } }
  await expect(system.start('demo', keyed)).rejects.toMatchObject({ kind: 'not_found' })
  expect((await system.run()).status).toBe(Status.FINISHED)
  await runner.goodbye()
})

test('starts at the same time as the deletion are refused, or killed and hidden', async () => {
  const processId = system.catalog.put('racing')
  const runner = await system.runner({ slots: 50, runs: () => undefined })
  const starts = Array.from({ length: 60 }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, index / 4))
    return system.start('demo', { identifier: 'racing' }).catch((error: unknown) => error)
  })
  await new Promise((resolve) => setTimeout(resolve, 7))
  await deleteProcess(processId)
  await Promise.all(starts)
  const { total } = (await system.executions.listExecutions({ processId }, userContext('demo'))).page!
  expect(total).toBe(0)
  await until(async () => (await system.rows('SELECT 1 FROM executions WHERE status IN (2, 4)')).length === 0)
  expect(await brokenInvariants(system)).toEqual([])
  await runner.goodbye()
})

test('only other services may delete', async () => {
  const call = system.executions.deleteProcessExecutions(
    { team: 'demo', processId: '0190a0a0-0000-7000-8000-000000000000' },
    userContext('demo'),
  )
  await expect(call).rejects.toMatchObject({ kind: 'permission_denied' })
})
