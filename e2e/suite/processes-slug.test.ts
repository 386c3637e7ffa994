import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Process } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
import { client, unique } from './shared-system.ts'

const create = (input: unknown) => client.post<Process>('/processes', input)
const wellFormed = /^[a-z0-9](?:[a-z0-9-]{0,253}[a-z0-9])?$/

describe('slugs', () => {
  test('a name that is URL-safe already is the slug, 64 hex digits with a prefix included', async () => {
    const name = `p-${createHash('sha256').update(unique()).digest('hex')}`
    expect((await makeProcess({ name })).slug).toBe(name)
  })

  test('a name is turned URL-safe', async () => {
    const end = unique('end')
    expect((await makeProcess({ name: `  Send Invoice: No. 5 / ${end}!` })).slug).toBe(`send-invoice-no-5-${end}`)
  })

  test.for(['Größe & Straße', '日本語', '🙂🙂', '---', '../../etc', 'UPPER', 'a_b.c', 'x'.repeat(255), '%2e%2e%2f'])(
    'the name %j gives a well-formed slug that works',
    async (text) => {
      const process = await makeProcess({ name: text })
      expect(process.name).toBe(text)
      expect(process.slug).toMatch(wellFormed)
      expect((await client.get<Process>(`/processes/${process.slug}`)).body.id).toBe(process.id)
    },
  )

  test('a derived slug that is taken gets a short suffix', async () => {
    const name = unique()
    const first = await makeProcess({ name })
    const second = await makeProcess({ name })
    expect(second.slug).toMatch(new RegExp(`^${first.slug}-[a-z0-9]{1,12}$`))
    expect((await client.get<Process>(`/processes/${name}`)).body.id).toBe(first.id)
  })

  test('derived slugs of the same name made at the same time all differ', async () => {
    const name = unique()
    const made = await Promise.all(Array.from({ length: 8 }, () => makeProcess({ name })))
    expect(new Set(made.map(({ slug }) => slug)).size).toBe(8)
  })

  test('a long derived slug that is taken still fits', async () => {
    const name = unique('x').padEnd(255, 'y')
    await makeProcess({ name })
    expect((await makeProcess({ name })).slug).toMatch(wellFormed)
  })

  test('an explicit slug that is taken is refused', async () => {
    const { slug } = await makeProcess()
    expectProblem(await create({ name: unique(), slug }), 400, { path: '/slug' })
  })

  test('of two equal explicit slugs at the same time one is accepted', async () => {
    const slug = unique()
    const answers = await Promise.all(Array.from({ length: 6 }, () => create({ name: unique(), slug })))
    expect(
      answers
        .map(({ status }) => `${status}`)
        .toSorted()
        .map(Number),
    ).toEqual([201, 400, 400, 400, 400, 400])
  })

  test.for([
    'Upper',
    'with space',
    '-lead',
    'trail-',
    'under_score',
    'dot.ted',
    'ümlaut',
    'a/b',
    'x'.repeat(256),
    'a\n',
  ])('the explicit slug %j is refused', async (slug) => {
    expectProblem(await create({ name: unique(), slug }), 400, { path: '/slug' })
  })

  test('a slug of 255 characters and one of a single character pattern are accepted', async () => {
    const slug = unique('s').padEnd(255, 'z')
    expect((await makeProcess({ slug })).slug).toBe(slug)
  })

  test('a slug in the form of a UUID is refused, a name in that form gets another slug', async () => {
    const uuid = crypto.randomUUID()
    expectProblem(await create({ name: unique(), slug: uuid }), 400, { path: '/slug' })
    const process = await makeProcess({ name: uuid })
    expect(process.slug).not.toBe(uuid)
    expect(process.slug).toMatch(wellFormed)
  })

  test('a rename leaves the slug alone', async () => {
    const process = await makeProcess()
    const { body } = await client.patch<Process>(`/processes/${process.id}`, { name: 'Quite another' })
    expect(body).toMatchObject({ name: 'Quite another', slug: process.slug })
  })

  test('a new slug takes effect at once and frees the old one', async () => {
    const process = await makeProcess()
    const slug = unique('new')
    expect((await client.patch<Process>(`/processes/${process.slug}`, { slug })).body.slug).toBe(slug)
    expectProblem(await client.get(`/processes/${process.slug}`), 404, { code: 'process_not_found' })
    expect((await makeProcess({ slug: process.slug })).slug).toBe(process.slug)
  })

  test('a slug of another process is refused on update, the own one is not', async () => {
    const [one, two] = await Promise.all([makeProcess(), makeProcess()])
    expectProblem(await client.patch(`/processes/${one.id}`, { slug: two.slug }), 400, { path: '/slug' })
    expect((await client.patch(`/processes/${one.id}`, { slug: one.slug })).status).toBe(200)
  })
})
