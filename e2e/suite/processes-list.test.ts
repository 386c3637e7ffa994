import { beforeAll, describe, expect, test } from 'vitest'
import type { QueryValue } from '../client/client.ts'
import type { Page, Process, ProcessSummary } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { executeSync, makeProcess } from './runs.ts'
import { makeSchedule, yearly } from './scheduling.ts'
import { client, unique } from './shared-system.ts'

const mark = unique('list')
const list = async (query: Record<string, QueryValue>) => (await client.get<Page<Process>>('/processes', query)).body
const made: Process[] = []

beforeAll(async () => {
  for (let n = 0; n < 12; n += 1)
    made.push(
      await makeProcess({
        name: `${mark} Nr ${n}`,
        description: n % 2 === 0 ? `Even ${mark} 100%_x` : undefined,
        tags: [`${mark}-${n % 3}`, ...(n === 0 ? [`${mark} odd one`, `${mark}, with a comma`] : [])],
      }),
    )
})

describe('listing processes', () => {
  test('a page has its five members, ten to a page, newest first', async () => {
    const page = await list({ keywords: mark })
    expect(Object.keys(page).toSorted()).toEqual(['data', 'hasNextPage', 'limit', 'page', 'total'])
    expect(page).toMatchObject({ hasNextPage: true, page: 0, limit: 10, total: 12 })
    expect(page.data.map(({ id }) => id)).toEqual(
      made
        .map(({ id }) => id)
        .toReversed()
        .slice(0, 10),
    )
  })

  test('pages follow each other without a gap, and the last has no next', async () => {
    const pages = await Promise.all([0, 1, 2].map((page) => list({ keywords: mark, page, limit: 5 })))
    expect(pages.map(({ hasNextPage }) => hasNextPage)).toEqual([true, true, false])
    expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(made.map(({ id }) => id).toReversed())
  })

  test('keywords match name or description in any case', async () => {
    expect((await list({ keywords: `${mark} nR 7`.toUpperCase() })).data.map(({ name }) => name)).toEqual([
      `${mark} Nr 7`,
    ])
    expect((await list({ keywords: `even ${mark}` })).total).toBe(6)
  })

  test('tags repeated or comma-joined match processes with any of them', async () => {
    expect((await list({ tags: `${mark}-0` })).total).toBe(4)
    expect((await list({ tags: [`${mark}-0`, `${mark}-1`] })).total).toBe(8)
    expect((await list({ tags: `${mark}-0,${mark}-1` })).total).toBe(8)
    expect((await list({ tags: [`${mark}-0,${mark}-1`, `${mark}-2`] })).total).toBe(12)
    expect((await list({ tags: `${mark}-none` })).total).toBe(0)
    expect((await list({ tags: `${mark} odd one` })).total).toBe(1)
    expect((await list({ tags: `${mark}, with a comma` })).total).toBe(1)
    expect((await list({ tags: [`${mark}, with a comma`, `${mark}-1`] })).total).toBe(5)
  })
})

describe('summaries of processes', () => {
  const summaries = async (query: Record<string, QueryValue>) => {
    const answer = await client.get<Page<ProcessSummary>>('/processes/summaries', query)
    expect(answer.status, answer.text).toBe(200)
    return answer.body
  }

  test('have the last execution, the figures of the day without trials, and the next firing, in pages', async () => {
    const own = unique('summed')
    const idle = await makeProcess({ name: `${own} idle` })
    const sourceCode = 'if (svc.context.parameters.fail) throw new Error("asked for"); return 1'
    const busy = await makeProcess({ name: `${own} busy`, tags: [own], sourceCode })
    await executeSync(busy)
    const failed = await executeSync(busy, { parameters: { fail: true } })
    await executeSync(busy, { draft: { sourceCode: 'return 2' } })
    const schedule = await makeSchedule(busy, { cron: yearly })
    const counted = async () => {
      const page = await summaries({ keywords: own, limit: 1000 })
      const { runs = 0, failed: failures = 0 } = page.data[0]?.last24h ?? {}
      return runs === 2 && failures === 1 && page
    }
    const { data, ...page } = await waitUntil('all count', counted, { timeoutMs: 20_000 })
    expect(page).toEqual({ hasNextPage: false, page: 0, limit: 1000, total: 2 })
    const lastExecution = { id: failed.headers.get('svc-execution-id'), status: 'ERROR', createdAt: expect.any(String) }
    expect(data).toEqual([
      {
        id: busy.id,
        name: busy.name,
        slug: busy.slug,
        lastExecution,
        last24h: { runs: 2, failed: 1, p95Ms: expect.any(Number) },
        nextFiringAt: schedule.nextExecutionAt,
      },
      { id: idle.id, name: idle.name, slug: idle.slug, last24h: { runs: 0, failed: 0 } },
    ])
    const second = await summaries({ keywords: own, limit: 1, page: 1 })
    expect([second.hasNextPage, second.data.map(({ id }) => id)]).toEqual([false, [idle.id]])
    expect((await summaries({ tags: own })).data.map(({ id }) => id)).toEqual([busy.id])
    expect((await summaries({ keywords: unique() })).data).toEqual([])
    for (const wrong of [{ page: 'x' }, { keywords: 'a\0' }])
      expectProblem(await client.get('/processes/summaries', wrong as Record<string, QueryValue>), 400)
  })

  test('are at an address that no new process takes', async () => {
    const refused = await client.post('/processes', { name: 'Summaries', slug: 'summaries' })
    expect(expectProblem(refused, 400).errors).toEqual([
      { path: '/slug', message: expect.stringContaining('reserved') },
    ])
    expect((await makeProcess({ name: 'summaries' })).slug).toMatch(/^summaries-/)
  })
})
