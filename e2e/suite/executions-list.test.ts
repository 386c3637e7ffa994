import { beforeAll, describe, expect, test } from 'vitest'
import type { QueryValue } from '../client/client.ts'
import type { Execution, Page, Process, Statistics, Usage } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { executeSync, executionOf, makeProcess } from './runs.ts'
import { client, unique } from './shared-system.ts'

const mark = unique('runs')
const list = async (query: Record<string, QueryValue>) => (await client.get<Page<Execution>>('/executions', query)).body
const ids: string[] = []
let process: Process

beforeAll(async () => {
  process = await makeProcess({
    name: `${mark} Name`,
    sourceCode:
      'if (svc.context.parameters.fail) throw new Error("asked for"); return "x".repeat(svc.context.parameters.size ?? 1)',
  })
  for (let n = 0; n < 6; n += 1) {
    const input = { parameters: { fail: n % 2 === 1 }, comment: `${mark} Comment 50%_${n}` }
    const { headers } = await executeSync(process, input)
    ids.push(headers.get('svc-execution-id') ?? '')
  }
})

test('figures of the runs of a process, and what they used', async () => {
  const figures = async (query: Record<string, QueryValue>) => {
    const answer = await client.get<Statistics>('/executions/statistics', { processId: process.id, ...query })
    expect(answer.status, answer.text).toBe(200)
    return answer.body
  }
  const seen = async () => {
    const { series } = await figures({ by: 'process' })
    const points = series[0]?.points.filter(({ started }) => started > 0) ?? []
    const [started, finished, error] = (['started', 'finished', 'error'] as const).map((name) =>
      points.reduce((sum, point) => sum + point[name], 0),
    )
    return started === 6 && finished === 3 && error === 3 && series[0]
  }
  const series = await waitUntil('all count', seen, { timeoutMs: 20_000 })
  expect(series.key).toBe(process.id)
  expect(series.points).toHaveLength(24)
  expect((await figures({ by: 'origin', bucket: 'day' })).series.map(({ key }) => key)).toEqual(['rest'])
  expect((await figures({ by: 'status', bucket: 'minute' })).series.map(({ key }) => key).toSorted()).toEqual([
    'ERROR',
    'FINISHED',
    'RUNNING',
  ])
  const { items } = (await client.get<Usage>('/usage')).body
  expect(items.find(({ key }) => key === process.id)).toMatchObject({ runs: 6 })
  const narrow = { from: '2020-01-01T00:00:00Z', bucket: 'hour' }
  expectProblem(await client.get('/executions/statistics', narrow), 400, { code: 'too_many_points' })
  for (const wrong of [{ bucket: 'week' }, { by: 'colour' }, { from: 'yesterday' }, { processId: 'x' }])
    expectProblem(await client.get('/executions/statistics', wrong as Record<string, QueryValue>), 400)
})

test('usage has the time on processors and the memory of runs, as their runner has measured them', async () => {
  const busy = await makeProcess({
    sourceCode: `const since = process.cpuUsage(); const held = Buffer.alloc(100 * 1024 * 1024, 1)
      for (;;) { const { user, system } = process.cpuUsage(since); if (user + system > 1e6) return held.length }`,
  })
  const { status, text } = await executeSync(busy, {})
  expect(status, text).toBe(203)
  const counted = async () => {
    const { items } = (await client.get<Usage>('/usage', { by: 'process' })).body
    return items.find(({ key, runSeconds }) => key === busy.id && runSeconds > 0)
  }
  const { cpuSeconds, memoryMbSeconds, runSeconds } = await waitUntil('it counts', counted, { timeoutMs: 20_000 })
  expect(cpuSeconds).toBeGreaterThanOrEqual(0.95)
  expect(cpuSeconds).toBeLessThan(3)
  expect(memoryMbSeconds / runSeconds).toBeGreaterThanOrEqual(100)
  expect(memoryMbSeconds / runSeconds).toBeLessThan(400)
})

describe('listing executions', () => {
  test('a page has its five members, newest first', async () => {
    const page = await list({ processId: process.id, limit: 4 })
    expect(Object.keys(page).toSorted()).toEqual(['data', 'hasNextPage', 'limit', 'page', 'total'])
    expect(page).toMatchObject({ hasNextPage: true, page: 0, limit: 4, total: 6 })
    expect(page.data.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 4))
    const next = await list({ processId: process.id, limit: 4, page: 1 })
    expect(next).toMatchObject({ hasNextPage: false, data: [{ id: ids[1] }, { id: ids[0] }] })
  })

  test('keywords match the name that the process had at the time of the run', async () => {
    const renamed = await makeProcess({ name: unique('Before'), sourceCode: 'return 1' })
    await executeSync(renamed)
    await client.patch(`/processes/${renamed.id}`, { name: unique('After') })
    const { data } = await list({ keywords: renamed.name })
    expect(data.map(({ processName }) => processName)).toEqual([renamed.name])
  })

  test('from and to are inclusive and may lack an offset', async () => {
    const { createdAt } = await executionOf(ids[2] ?? '')
    const of = async (query: Record<string, string>) =>
      (await list({ processId: process.id, ...query })).data.map(({ id }) => id)
    expect(await of({ from: createdAt, to: createdAt })).toContain(ids[2])
    expect(await of({ from: createdAt })).toEqual(expect.arrayContaining(ids.slice(2)))
    expect(await of({ from: createdAt })).not.toContain(ids[0])
    expect(await of({ to: createdAt })).not.toContain(ids[5])
    expect(await of({ to: createdAt.replace('Z', '') })).toEqual(await of({ to: createdAt }))
    expect(await of({ to: '2001-01-01T00:00:00' })).toEqual([])
    expect(await of({ from: '2999-01-01T00:00:00+02:00' })).toEqual([])
  })

  test('several statuses, repeated or joined, and origins and trials are filters, and wrong ones are named', async () => {
    const of = async (query: Record<string, QueryValue>) =>
      (await list({ processId: process.id, ...query })).data.map(({ id }) => id)
    const failed = [ids[5], ids[3], ids[1]]
    expect(await of({ status: 'ERROR' })).toEqual(failed)
    expect(await of({ status: ['ERROR', 'KILLED'] })).toEqual(failed)
    expect(await of({ status: 'KILLED,ERROR,REJECTED', origin: 'rest' })).toEqual(failed)
    expect(await of({ status: 'FINISHED,ERROR', trial: 'false' })).toEqual(ids.toReversed())
    const none: Record<string, string>[] = [
      { trial: 'true' },
      { origin: 'schedule,process' },
      { versionId: process.id },
      { scheduledId: process.id },
    ]
    for (const query of none) expect(await of(query)).toEqual([])
    for (const [name, value] of [
      ['status', 'NOPE'],
      ['status', 'ERROR,NOPE'],
      ['origin', 'REST'],
      ['trial', '1'],
      ['scheduledId', 'x'],
      ['versionId', 'v1'],
      ['after', 'x'],
    ] as const) {
      const problem = expectProblem(await client.get('/executions', { [name]: value }), 400)
      expect((problem.errors ?? [])[0]?.path).toBe(`/${name}`)
    }
  })

  test('words are found in parameters, value and error, in any case, and % and _ mean themselves', async () => {
    const order = unique('Order')
    const shop = await makeProcess({
      sourceCode:
        'const { order, fail } = svc.context.parameters; if (fail) throw new Error(`no ${order}`); return { paid: order }',
    })
    const run = async (parameters: object) => (await executeSync(shop, { parameters })).headers.get('svc-execution-id')
    const paid = await run({ order: `${order}-1`, note: '50%_off Äpfel' })
    const failed = await run({ order: `${order}-2`, fail: true })
    const of = async (q: string, more: Record<string, string> = {}) =>
      (await list({ q, ...more })).data.map(({ id }) => id)
    expect(await of(order.toUpperCase())).toEqual([failed, paid])
    expect(await of(`${order}-1`)).toEqual([paid])
    expect(await of(`paid ${order}`)).toEqual([paid])
    expect(await of(`äPFEL ${order}`)).toEqual([paid])
    expect(await of(`no ${order} Error:`)).toEqual([failed])
    expect(await of(`50%_ ${order}`)).toEqual([paid])
    expect(await of(`5_%_ ${order}`)).toEqual([])
    expect(await of(order, { status: 'ERROR' })).toEqual([failed])
    expect(await of(order, { status: 'ERROR', origin: 'webhook' })).toEqual([])
    expect(await of(order, { keywords: mark })).toEqual([])
    expectProblem(await client.get('/executions', { q: 'x'.repeat(201) }), 400, { path: /\/q$/ })
  })

  test('with an empty `after` the list has a cursor for the next page', async () => {
    const of = (after: string) =>
      client.get<Page<Execution> & { after?: string }>('/executions', { processId: process.id, limit: 4, after })
    const first = (await of('')).body
    expect(first).toMatchObject({ hasNextPage: true, total: 6, after: ids[2] })
    const second = (await of(first.after ?? '')).body
    expect(second.data.map(({ id }) => id)).toEqual([ids[1], ids[0]])
    expect(second).toMatchObject({ hasNextPage: false, total: 6 })
    expect(second.after).toBeUndefined()
  })

  test.for(['x', '1', '00000000-0000-0000-0000-000000000000', '../processes', '%00'])(
    'the id %s gives 404 on every call',
    async (raw) => {
      const id = raw.startsWith('%') ? raw : encodeURIComponent(raw)
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/logs'],
        ['GET', '/request'],
        ['GET', '/children'],
        ['GET', '/waiting'],
        ['GET', '/source'],
        ['PUT', '/kill'],
        ['POST', '/rerun'],
      ] as const)
        expectProblem(await client.call(method, `/executions/${id}${path}`), 404, { code: 'execution_not_found' })
    },
  )
})
