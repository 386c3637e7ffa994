import { describe, expect, test } from 'vitest'
import type { Process } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
import { client, unique } from './shared-system.ts'

const create = (input: unknown) => client.post<Process>('/processes', input)

describe('slugs', () => {
  test('a name is turned URL-safe', async () => {
    const end = unique('end')
    expect((await makeProcess({ name: `  Send Invoice: No. 5 / ${end}!` })).slug).toBe(`send-invoice-no-5-${end}`)
  })

  test('a derived slug that is taken gets a short suffix', async () => {
    const name = unique()
    const first = await makeProcess({ name })
    const second = await makeProcess({ name })
    expect(second.slug).toMatch(new RegExp(`^${first.slug}-[a-z0-9]{1,12}$`))
    expect((await client.get<Process>(`/processes/${name}`)).body.id).toBe(first.id)
  })

  test('an explicit slug that is taken is refused', async () => {
    const { slug } = await makeProcess()
    expectProblem(await create({ name: unique(), slug }), 400, { path: '/slug' })
  })

  test('a new slug takes effect at once and frees the old one', async () => {
    const process = await makeProcess()
    const slug = unique('new')
    expect((await client.patch<Process>(`/processes/${process.slug}`, { slug })).body.slug).toBe(slug)
    expectProblem(await client.get(`/processes/${process.slug}`), 404, { code: 'process_not_found' })
    expect((await makeProcess({ slug: process.slug })).slug).toBe(process.slug)
  })
})
