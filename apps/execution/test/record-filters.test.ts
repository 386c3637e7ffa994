import { Origin, Status, type ListExecutionsRequestSchema } from '@automation/contract/execution/v1/execution'
import { RunService } from '@automation/contract/run/v1/run'
import { until, userContext } from '@automation/testing'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lowestIdAt } from '../src/execution-id.ts'
import { daysOf } from '../src/store/record-list.ts'
import { asRun, type End, type ScriptedRunner } from './scripted-runner.ts'
import { System } from './system.ts'

let system: System
let runner: ScriptedRunner

const broken: End = { case: 'failed', value: { explanation: 'Error: broken' } }

beforeAll(async () => {
  system = await System.start()
  system.catalog.put('hello', {}, 'v1')
  runner = await system.runner({ slots: 20, runs: () => undefined })
})
afterAll(() => system.stop())

type Filter = Exclude<MessageInitShape<typeof ListExecutionsRequestSchema>, { $typeName: string }>

async function found(team: string, filter: Filter): Promise<string[]> {
  const { executions, page } = await system.list(filter, team)
  expect(page!.total).toBe(executions.length)
  return executions.map(({ id }) => id)
}

/** Starts a run that ends in ERROR. */
async function failed(team: string): Promise<string> {
  const id = await system.start(team)
  await runner.run(id)
  runner.finish(id, broken)
  await system.ended(id, team)
  return id
}

test('several statuses are found together, whichever index knows of each', async () => {
  const team = 'statuses'
  const finished = await system.finished(runner, team)
  const error = await failed(team)
  const running = await system.start(team)
  await runner.run(running)
  const killed = await system.start(team)
  await runner.run(killed)
  await system.executions.killExecution({ id: killed }, userContext(team))
  const queued = await system.start(team, { settings: { agentPool: 'default' }, identifier: 'hello' })
  await runner.run(queued)
  const { ERROR, KILLED, RUNNING, FINISHED } = Status
  expect(await found(team, { statuses: [ERROR, KILLED] })).toEqual([killed, error])
  expect(await found(team, { statuses: [RUNNING, ERROR] })).toEqual([queued, running, error])
  expect(await found(team, { statuses: [FINISHED, KILLED] })).toEqual([killed, finished])
  expect(await found(team, { statuses: [RUNNING, KILLED], status: ERROR, keywords: 'ell' })).toEqual([
    queued,
    killed,
    running,
    error,
  ])
  expect(await found(team, { statuses: [ERROR, KILLED], origins: [Origin.REST] })).toEqual([killed, error])
  expect(await found(team, { statuses: [ERROR, KILLED], origins: [Origin.RERUN] })).toEqual([])
  for (const id of [running, queued]) {
    runner.finish(id)
    await system.ended(id, team)
  }
})

test('runs are found by what has started them, by their version and by what they have started', async () => {
  const team = 'sources'
  const ofVersion = await system.finished(runner, team, { tag: 'v1' })
  const { versionId } = await system.get(ofVersion, team)
  const parent = await system.start(team)
  const run = await runner.run(parent)
  const call = { callNumber: 1, identifier: 'hello' }
  const child = (await system.neighbours.client(RunService).startProcess(call, asRun(run))).executionId
  await until(async () => (await system.get(child, team)).status === Status.RUNNING)
  const again = (await system.executions.rerunExecution({ id: ofVersion }, userContext(team))).executionId
  await runner.run(again)
  expect(await found(team, { versionId: versionId! })).toEqual([again, ofVersion])
  expect(await found(team, { versionId: versionId!, statuses: [Status.ERROR] })).toEqual([])
  expect(await found(team, { parentId: parent })).toEqual([child])
  expect(await found(team, { origins: [Origin.PROCESS] })).toEqual([child])
  expect(await found(team, { origins: [Origin.RERUN, Origin.PROCESS] })).toEqual([again, child])
  expect(await found(team, { origins: [Origin.WEBHOOK, Origin.SCHEDULE, Origin.ERROR_HANDLER] })).toEqual([])
  expect(await found(team, { origins: [Origin.REST] })).toEqual([parent, ofVersion])
  expect(await found(team, { scheduleId: v7() })).toEqual([])
  expect(await found(team, { scheduleId: 'nonsense' })).toEqual([])
  expect(await found(team, { trial: true })).toEqual([])
  expect(await found(team, { trial: false, versionId: versionId! })).toEqual([again, ofVersion])
  const missing = { code: 'execution_not_found' }
  await expect(system.list({ parentId: parent }, 'strangers')).rejects.toMatchObject(missing)
  await expect(system.list({ parentId: 'nonsense' }, team)).rejects.toMatchObject(missing)
  for (const id of [parent, child, again]) {
    runner.finish(id)
    await system.ended(id, team)
  }
})

test('words that thousands of runs have are found newest first, page by page over the days', async () => {
  const team = 'many-words'
  const one = await system.finished(runner, team, { parameters: new TextEncoder().encode('{"order":"needle"}') })
  const now = Date.now()
  const copies = await system.rows<{ id: string }>(
    `INSERT INTO executions SELECT (jsonb_populate_record(e, jsonb_build_object('id', lpad(to_hex(at), 12, '0') || '7000800000000000' || lpad(to_hex(n), 4, '0')))).*
       FROM executions e, generate_series(0, 2199) AS n, LATERAL (SELECT $2::bigint - 1 - (n / 1500) * 86400000 - n AS at) AS t
      WHERE e.id = $1 RETURNING id`,
    [one, now],
  )
  const all = [one, ...copies.map(({ id }) => id)].toSorted().toReversed()
  const page = async (filter: Filter, number: number) => {
    const answer = await system.list({ words: 'needle', ...filter, page: { page: number, limit: 1000 } }, team)
    expect(answer.page!.total).toBe(2201)
    return answer.executions.map(({ id }) => id)
  }
  const pages = [await page({}, 0), await page({ trial: false }, 1), await page({ statuses: [Status.FINISHED] }, 2)]
  expect(pages.flat()).toEqual(all)
  expect(pages[2]).toHaveLength(201)
  expect(await page({ after: all[1499]! }, 0)).toEqual(all.slice(1500))
  expect(await page({ from: timestampFromMs(now - 2 * 86_400_000) }, 2)).toEqual(all.slice(2000))
})

test('a search of words looks at no day that is outside of its bounds, or has no runs yet', () => {
  const at = (day: number) => lowestIdAt(day * 86_400_000)
  const days = (filter: Parameters<typeof daysOf>[0], oldestId?: string) => daysOf(filter, oldestId, 1000 * 86_400_000)
  expect(days({}, at(10))).toEqual({ newest: 1001, oldest: 10 })
  expect(days({ fromId: at(990), untilId: at(995) }, at(10))).toEqual({ newest: 995, oldest: 990 })
  expect(days({ fromId: at(5), untilId: at(995), afterId: at(993) }, at(10))).toEqual({ newest: 993, oldest: 10 })
  expect(days({})).toEqual({ newest: 1001, oldest: 1000 })
})

test('behind a cursor the list goes on where the page ended, whatever has come since', async () => {
  const team = 'cursors'
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.unshift(await system.finished(runner, team))
  const page = (after: string) => system.list({ after, page: { page: 0, limit: 2 } }, team)
  const first = await page('ffffffff-ffff-ffff-ffff-ffffffffffff')
  await system.finished(runner, team)
  const second = await page(first.executions.at(-1)!.id)
  const third = await page(second.executions.at(-1)!.id)
  expect([first, second, third].map(({ executions }) => executions.map(({ id }) => id))).toEqual([
    ids.slice(0, 2),
    ids.slice(2, 4),
    ids.slice(4),
  ])
  expect([first, second, third].map(({ page: info }) => [info!.total, info!.hasNextPage])).toEqual([
    [5, true],
    [6, true],
    [6, false],
  ])
  await expect(system.list({ after: 'x' }, team)).rejects.toMatchObject({ fields: [{ path: '/after' }] })
  const both = { after: ids[0]!, page: { page: 1, limit: 2 } }
  await expect(system.list(both, team)).rejects.toMatchObject({ fields: [{ path: '/page' }] })
})

test('the request of a webhook is shown without its credentials, of a run that was repeated twice as it first came', async () => {
  const team = 'requests'
  system.catalog.put('open', { webhook: { enabled: true } })
  const request = {
    headers: {
      'cf-access-jwt-assertion': 'hidden',
      'x-hub-signature-256': 'hidden',
      cookie: 'hidden',
      'x-my-Secret': 'hidden',
      accept: '*/*',
    },
    method: 'POST',
    query: { a: ['1', '2'], author: 'me', api_key: 'hidden', Token: 'hidden', sig: 'hidden', 'one-code': 'hidden' },
    rawBody: 'text',
  }
  const webhook = { request: Buffer.from(JSON.stringify(request)), authorization: 'hidden' }
  const id = await system.finished(runner, team, { identifier: 'open', webhook })
  const again = async (of: string) =>
    (await system.executions.rerunExecution({ id: of }, userContext(team))).executionId
  const repeated = await again(id)
  const twice = await again(repeated)
  const { createdAt } = await system.get(id, team)
  for (const each of [id, twice]) {
    const shown = await system.executions.getWebhookRequest({ executionId: each }, userContext(team))
    expect(shown).toMatchObject({ method: 'POST', processSlug: 'open', rawBody: 'text', isBase64: false })
    expect(JSON.parse(Buffer.from(shown.query).toString())).toEqual({ a: ['1', '2'], author: 'me' })
    expect(JSON.parse(Buffer.from(shown.headers).toString())).toEqual({ accept: '*/*' })
    expect(shown.receivedAt).toEqual(createdAt)
  }
  const other = await system.finished(runner, team)
  await expect(system.executions.getWebhookRequest({ executionId: other }, userContext(team))).rejects.toMatchObject({
    kind: 'not_found',
    code: 'no_request',
  })
  for (const each of [repeated, twice]) {
    await runner.run(each)
    runner.finish(each)
    await system.ended(each, team)
  }
})

test('a run is repeated with what is wanted otherwise, and the rest as it was', async () => {
  const team = 'otherwise'
  const settings = { timeoutMs: 7000, freshProcess: true }
  const parameters = Buffer.from('{"a":1.0}')
  const id = await system.finished(runner, team, { parameters, comment: 'first', settings, tag: 'v1' })
  const { versionId } = await system.get(id, team)
  system.catalog.put('hello', {}, 'v2')
  const again = async (wanted: object) => {
    const { executionId } = await system.executions.rerunExecution({ id, ...wanted }, userContext(team))
    await runner.run(executionId)
    runner.finish(executionId)
    return system.ended(executionId, team)
  }
  const changed = await again({ parameters: Buffer.from('{"b":2.0}'), tag: 'v2', settings: { timeoutMs: 500 } })
  expect(changed).toMatchObject({
    comment: 'first',
    tag: 'v2',
    rerunOf: id,
    settings: { timeoutMs: 500, freshProcess: true },
  })
  expect(Buffer.from(changed.parameters!).toString()).toBe('{"b":2.0}')
  const kept = await again({ comment: 'second', freshProcess: false })
  expect(kept).toMatchObject({
    comment: 'second',
    tag: 'v1',
    versionId,
    settings: { timeoutMs: 7000, freshProcess: false },
  })
  expect(Buffer.from(kept.parameters!).toString()).toBe('{"a":1.0}')
  system.catalog.removeVersion('hello', 'v1')
  expect(await again({ tag: versionId })).toMatchObject({ versionId })
  expect(await again({})).toMatchObject({ versionId })
  await expect(
    system.executions.rerunExecution({ id, parameters: Buffer.from('[]') }, userContext(team)),
  ).rejects.toMatchObject({ fields: [{ path: '/parameters' }] })
})
