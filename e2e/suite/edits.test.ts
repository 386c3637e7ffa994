import { expect, test } from 'vitest'
import type { Module, Problem, Process, Variable } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { makeProcess, publish } from './runs.ts'
import { makeSchedule, yearly } from './scheduling.ts'
import { client, unique } from './shared-system.ts'

/** The path of a new record of each kind that can be edited, and an edit of it. */
const kinds: Record<string, () => Promise<[path: string, edit: (nth: number) => object]>> = {
  process: async () => [`/processes/${(await makeProcess()).id}`, (nth) => ({ description: `${nth}` })],
  module: async () => {
    const { body } = await client.post<Module>('/modules', { name: unique(), sourceCode: '' })
    return [`/modules/${body.id}`, (nth) => ({ sourceCode: `${nth}` })]
  },
  schedule: async () => {
    const { id } = await makeSchedule(await makeProcess(), { cron: yearly })
    return [`/schedules/${id}`, (nth) => ({ input: { comment: `${nth}` } })]
  },
  variable: async () => {
    const fields = { key: unique('V').replaceAll('-', '_'), value: 'secret', isSensitive: true }
    const { body } = await client.post<Variable>('/variables', fields)
    return [`/variables/${body.id}`, (nth) => ({ value: `${nth}` })]
  },
  team: async () => ['/team', () => ({ name: unique() })],
  alias: async () => {
    const process = await makeProcess()
    await publish(process, { tag: 'v1' })
    const path = `/processes/${process.id}/aliases`
    const { body } = await client.post<{ id: string }>(path, { name: 'live', versionId: 'v1' })
    return [`${path}/${body.id}`, (nth) => ({ name: `live${nth}` })]
  },
}

test.for(Object.keys(kinds))(
  'an edit of a %s that somebody else has edited is refused, and says by whom',
  async (kind) => {
    const [path, edit] = await kinds[kind]!()
    const change = (nth: number, ifMatch: string) =>
      client.call<Problem>('PATCH', path, { json: edit(nth), headers: { 'if-match': ifMatch } })
    const read = await client.get<{ updatedBy?: string; updatedAt?: string }>(path)
    const etag = read.headers.get('etag')!
    expect(etag).toMatch(/^"[^"]+"$/)
    expect((await client.get(path)).headers.get('etag')).toBe(etag)
    const changed = await change(1, `"other", ${etag}`)
    expect(changed.status, changed.text).toBe(200)
    const next = changed.headers.get('etag')!
    expect(next).not.toBe(etag)
    const now = await client.get<{ updatedBy: string; updatedAt: string }>(path)
    expect(now.headers.get('etag')).toBe(next)
    const { updatedBy, updatedAt } = now.body
    for (const stale of [etag, `W/${next}`]) {
      const late = await change(2, stale)
      expectProblem(late, 412, { code: 'changed_meanwhile' })
      expect(late.headers.get('etag')).toBe(next)
      expect(late.body).toMatchObject({ etag: next, updatedBy, updatedAt: expect.stringMatching(/Z$/) })
      expect(Date.parse(late.body['updatedAt' as keyof Problem] as string)).toBe(Date.parse(updatedAt))
    }
    expectProblem(await change(2, 'unquoted'), 400, { path: '/If-Match' })
    expect((await change(3, '*')).status).toBe(200)
    expect((await change(4, '')).status).toBe(200)
    if (kind === 'team') return
    const remove = (headers: Record<string, string>) => client.call('DELETE', path, { headers })
    expectProblem(await remove({ 'if-match': next }), 412, { code: 'changed_meanwhile' })
    const last = await client.get(path)
    expect((await remove({ 'if-match': last.headers.get('etag')! })).status).toBe(200)
    expectProblem(await remove({ 'if-match': next }), 404)
  },
)

test('pausing and resuming a schedule are edits of it', async () => {
  const [path] = await kinds['schedule']!()
  const first = (await client.get(path)).headers.get('etag')!
  const put = (what: string, ifMatch: string) =>
    client.call('PUT', `${path}/${what}`, { headers: { 'if-match': ifMatch } })
  const paused = await put('pause', first)
  expect([paused.status, paused.text]).toEqual([200, ''])
  expectProblem(await put('resume', first), 412, { code: 'changed_meanwhile' })
  expect((await put('resume', paused.headers.get('etag')!)).status).toBe(200)
})

test('who uses a module or a variable is listed', async () => {
  const { body: module } = await client.post<Module>('/modules', {
    name: unique('m'),
    sourceCode: 'export const a = 1',
  })
  const key = unique('V').replaceAll('-', '_')
  const { body: variable } = await client.post<Variable>('/variables', { key, value: '' })
  const sourceCode = `import { a } from '${module.name}'\nreturn process.env.${key}`
  const { id, name, slug } = await makeProcess({ sourceCode })
  const { id: versionId } = await publish({ id } as Process, { tag: 'v1' })
  const data = [
    { type: 'PROCESS', id, name, slug },
    { type: 'PROCESS', id, name, slug, versionId, tag: 'v1' },
  ]
  const page = { hasNextPage: false, page: 0, limit: 10, total: 2, data }
  expect((await client.get(`/modules/${module.id}/users`)).body).toEqual({ ...page, inOtherTeams: 0 })
  expect((await client.get(`/variables/${variable.id}/users`)).body).toEqual({ ...page, incomplete: false })
  expectProblem(await client.get(`/modules/${id}/users`), 404, { code: 'module_not_found' })
  expectProblem(await client.get(`/variables/${id}/users`), 404, { code: 'variable_not_found' })
})

test('a variable is read by its id, a sensitive one as stars', async () => {
  const [path] = await kinds['variable']!()
  const { status, body } = await client.get<Variable>(path)
  expect([status, body.value, body.isSensitive]).toEqual([200, '******', true])
})
