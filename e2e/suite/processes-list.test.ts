import { beforeAll, describe, expect, test } from 'vitest'
import type { QueryValue } from '../client/client.ts'
import type { Page, Process } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
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
        tags: [`${mark}-${n % 3}`, ...(n === 0 ? [`${mark} odd one`] : [])],
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

  test('a page that ends exactly at the last item has no next', async () => {
    expect(await list({ keywords: mark, page: 1, limit: 6 })).toMatchObject({ hasNextPage: false, total: 12 })
  })

  test('a page behind the end is empty', async () => {
    expect(await list({ keywords: mark, page: 99 })).toEqual({
      hasNextPage: false,
      page: 99,
      limit: 10,
      total: 12,
      data: [],
    })
  })

  test('a limit above 1000 is treated as 1000', async () => {
    expect(await list({ keywords: mark, limit: 5000 })).toMatchObject({ limit: 1000, total: 12 })
  })

  test('an empty value counts as absent', async () => {
    const page = await list({ keywords: mark, page: '', limit: '', tags: '' })
    expect(page).toMatchObject({ page: 0, limit: 10, total: 12 })
  })

  test.for([
    ['limit', '0'],
    ['limit', '-1'],
    ['limit', '1.5'],
    ['limit', 'ten'],
    ['limit', 'NaN'],
    ['page', '-1'],
    ['page', '0.5'],
    ['page', 'x'],
  ] as const)('the %s %s is refused', async ([name, value]) => {
    expectProblem(await client.get('/processes', { [name]: value }), 400, { path: new RegExp(`/${name}$`) })
  })

  test('keywords match name or description in any case', async () => {
    expect((await list({ keywords: `${mark} nR 7`.toUpperCase() })).data.map(({ name }) => name)).toEqual([
      `${mark} Nr 7`,
    ])
    expect((await list({ keywords: `even ${mark}` })).total).toBe(6)
  })

  test('wildcards of a database in keywords are plain characters', async () => {
    expect((await list({ keywords: `${mark} 100%_x` })).total).toBe(6)
    expect((await list({ keywords: `${mark}%Nr` })).total).toBe(0)
    expect((await list({ keywords: `${mark}_Nr` })).total).toBe(0)
    expect((await list({ keywords: `${mark}\\` })).total).toBe(0)
  })

  test('tags repeated or comma-joined match processes with any of them', async () => {
    expect((await list({ tags: `${mark}-0` })).total).toBe(4)
    expect((await list({ tags: [`${mark}-0`, `${mark}-1`] })).total).toBe(8)
    expect((await list({ tags: `${mark}-0,${mark}-1` })).total).toBe(8)
    expect((await list({ tags: [`${mark}-0,${mark}-1`, `${mark}-2`] })).total).toBe(12)
    expect((await list({ tags: `${mark}-none` })).total).toBe(0)
    expect((await list({ tags: `${mark} odd one` })).total).toBe(1)
  })

  test('tags and keywords together narrow the list', async () => {
    expect((await list({ tags: `${mark}-0`, keywords: `even ${mark}` })).total).toBe(2)
  })

  test('sources above 64 KiB are left out of lists; a single read has them', async () => {
    const sourceCode = `return 1 // ${'x'.repeat(65 * 1024)}`
    const process = await makeProcess({ sourceCode })
    const [item] = (await list({ keywords: process.name })).data
    expect(item?.id).toBe(process.id)
    expect(item?.sourceCode ?? '').toBe('')
    expect((await client.get<Process>(`/processes/${process.id}`)).body.sourceCode).toBe(sourceCode)
  })

  test('a process is read by its id and by its slug', async () => {
    const process = await makeProcess({ name: unique(), slug: unique('by-slug') })
    const [byId, bySlug] = await Promise.all([
      client.get(`/processes/${process.id}`),
      client.get(`/processes/${process.slug}`),
    ])
    expect(byId.body).toEqual(bySlug.body)
  })

  test('an id in upper case is the same id', async () => {
    const process = await makeProcess()
    expect((await client.get<Process>(`/processes/${process.id.toUpperCase()}`)).body.id).toBe(process.id)
  })

  test.for(['00000000-0000-0000-0000-000000000000', 'no-such-process', 'not%20a%20slug', '%F0%9F%99%82', '..%2f..'])(
    'the identifier %s gives 404',
    async (identifier) => {
      expectProblem(await client.get(`/processes/${identifier}`), 404)
    },
  )
})
