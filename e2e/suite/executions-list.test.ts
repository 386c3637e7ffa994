import { beforeAll, describe, expect, test } from 'vitest'
import type { QueryValue } from '../client/client.ts'
import type { Execution, Page, Process } from '../client/records.ts'
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

describe('listing executions', () => {
  test('a page has its five members, newest first', async () => {
    const page = await list({ processId: process.id, limit: 4 })
    expect(Object.keys(page).toSorted()).toEqual(['data', 'hasNextPage', 'limit', 'page', 'total'])
    expect(page).toMatchObject({ hasNextPage: true, page: 0, limit: 4, total: 6 })
    expect(page.data.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 4))
    const next = await list({ processId: process.id, limit: 4, page: 1 })
    expect(next).toMatchObject({ hasNextPage: false, data: [{ id: ids[1] }, { id: ids[0] }] })
  })

  test('status narrows the list', async () => {
    const failed = await list({ processId: process.id, status: 'ERROR' })
    expect(failed.total).toBe(3)
    expect(new Set(failed.data.map(({ status }) => status))).toEqual(new Set(['ERROR']))
    expect((await list({ processId: process.id, status: 'QUEUED' })).total).toBe(0)
  })

  test('keywords match process name or comment in any case, wildcards are plain characters', async () => {
    expect((await list({ keywords: `${mark} nAme` })).total).toBe(6)
    expect((await list({ keywords: `${mark} COMMENT 50%_3` })).data.map(({ id }) => id)).toEqual([ids[3]])
    expect((await list({ keywords: `${mark}%comment` })).total).toBe(0)
  })

  test('comment matches the comment alone', async () => {
    expect((await list({ comment: `${mark} comment` })).total).toBe(6)
    expect((await list({ comment: `${mark} name` })).total).toBe(0)
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

  test.for([
    ['status', 'DONE'],
    ['status', 'finished'],
    ['from', 'yesterday'],
    ['to', '2026-13-01T00:00:00Z'],
    ['from', '2026-02-30T00:00:00Z'],
    ['limit', '0'],
    ['page', '-1'],
  ] as const)('the filter %s=%s is refused with its path', async ([name, value]) => {
    expectProblem(await client.get('/executions', { [name]: value }), 400, { path: new RegExp(`/${name}$`) })
  })

  test('empty filters count as absent', async () => {
    const filters = { status: '', from: '', to: '', keywords: '', comment: '', page: '', limit: '' }
    expect((await list({ processId: process.id, ...filters })).total).toBe(6)
  })

  test('large parameters and values are left out of lists; a single read has them', async () => {
    const parameters = { size: 70_000, text: 'y'.repeat(70_000) }
    const { headers } = await executeSync(await makeProcess({ sourceCode: 'return "x".repeat(70_000)' }), {
      parameters,
    })
    const id = headers.get('svc-execution-id') ?? ''
    const single = await executionOf(id)
    expect(single.parameters).toEqual(parameters)
    expect(single.returnValue?.length).toBe(70_002)
    const item = (await list({ processId: single.processId })).data[0]
    expect(item).toMatchObject({ id, status: 'FINISHED' })
    expect([item?.parameters ?? null, item?.returnValue ?? null]).toEqual([null, null])
  })

  test.for(['x', '1', '00000000-0000-0000-0000-000000000000', '../processes', '%00'])(
    'the id %s gives 404 on every call',
    async (raw) => {
      const id = raw.startsWith('%') ? raw : encodeURIComponent(raw)
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/logs'],
        ['PUT', '/kill'],
        ['POST', '/rerun'],
      ] as const)
        expectProblem(await client.call(method, `/executions/${id}${path}`), 404, { code: 'execution_not_found' })
    },
  )
})
