import { until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System
let runner: ScriptedRunner

beforeAll(async () => {
  system = await System.start()
  runner = await system.runner({ slots: 20, runs: () => undefined })
})
afterAll(() => system.stop())

test('list items leave out what is larger than 64 KiB; a single read has it', async () => {
  const parameters = Buffer.from(JSON.stringify({ a: 'x'.repeat(70_000) }))
  const id = await system.finished(runner, 'large', { parameters })
  const [item] = (await system.list({}, 'large')).executions
  expect(item!.parameters).toBeUndefined()
  expect(Buffer.from(item!.returnValue!).toString()).toBe('1')
  expect(parameters.equals((await system.get(id, 'large')).parameters!)).toBe(true)
})

test('a page of many large values has all its executions, and is bounded in bytes', async () => {
  const parameters = Buffer.from(JSON.stringify({ a: 'x'.repeat(60_000) }))
  await system.finished(runner, 'bytes', { parameters })
  await system.rows(
    `INSERT INTO executions SELECT (jsonb_populate_record(e, jsonb_build_object('id', overlay(e.id::text placing lpad(n::text, 12, '0') from 25)))).*
       FROM executions e, generate_series(1, 199) n WHERE e.team = 'bytes'`,
  )
  const { executions, page } = await system.list({ page: { page: 0, limit: 1000 } }, 'bytes')
  expect(executions).toHaveLength(200)
  expect(page).toMatchObject({ total: 200, hasNextPage: false })
  expect(executions.every((each) => each.parameters === undefined && each.returnValue !== undefined)).toBe(true)
  expect((await system.list({}, 'bytes')).executions.every((each) => parameters.equals(each.parameters!))).toBe(true)
})

test('one team has no more than its share of the connections for reads', async () => {
  const [executionId] = [await system.finished(runner, 'busy'), await system.finished(runner, 'quiet')]
  const holder = await system.sql.connect()
  await holder.query('BEGIN; LOCK TABLE log_chunks')
  const waiting = Array.from({ length: 12 }, () => system.executions.listLogs({ executionId }, userContext('busy')))
  const stuck = async () => (await system.rows('SELECT FROM pg_locks WHERE NOT granted')).length > 0
  await until(stuck, { what: 'the reads of one team wait' })
  expect((await system.list({}, 'quiet')).executions).toHaveLength(1)
  await holder.query('COMMIT')
  holder.release()
  await Promise.all(waiting)
})
