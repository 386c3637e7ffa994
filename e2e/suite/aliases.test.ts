import { describe, expect, test } from 'vitest'
import type { Alias, Page, Process, Version } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { executeSync, makeProcess, publish } from './runs.ts'
import { client } from './shared-system.ts'

interface Stage {
  process: Process
  one: Version
  two: Version
  path: string
}

/** A process with two versions that return their numbers. */
async function stage(): Promise<Stage> {
  const process = await makeProcess({ sourceCode: 'return 0' })
  const one = await publish(process, { tag: 'one', sourceCode: 'return 1' })
  const two = await publish(process, { tag: 'two', sourceCode: 'return 2' })
  return { process, one, two, path: `/processes/${process.id}/aliases` }
}

async function makeAlias({ path }: Stage, name: string, versionId: string): Promise<Alias> {
  const answer = await client.post<Alias>(path, { name, versionId })
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

describe('aliases', () => {
  test('an alias names a version and runs it', async () => {
    const at = await stage()
    const alias = await makeAlias(at, 'live', at.one.id)
    expect(alias).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'live',
      versionId: at.one.id,
      createdBy: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
    })
    expect((await client.get(`${at.path}/${alias.id}`)).body).toEqual(alias)
    expect((await executeSync(at.process, { tag: 'live' })).body).toBe(1)
  })

  test('the version may be given by its tag', async () => {
    const at = await stage()
    expect((await makeAlias(at, 'by-tag', 'two')).versionId).toBe(at.two.id)
  })

  test('a moved alias runs the other version from then on', async () => {
    const at = await stage()
    const alias = await makeAlias(at, 'live', at.one.id)
    const moved = await client.patch<Alias>(`${at.path}/${alias.id}`, { versionId: 'two' })
    expect(moved.body).toMatchObject({
      ...alias,
      versionId: at.two.id,
      updatedBy: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await executeSync(at.process, { tag: 'live' })).body).toBe(2)
  })

  test('both fields are optional on update', async () => {
    const at = await stage()
    const alias = await makeAlias(at, 'old', at.one.id)
    expect((await client.patch<Alias>(`${at.path}/${alias.id}`, { name: 'new' })).body).toMatchObject({
      name: 'new',
      versionId: at.one.id,
    })
    expect((await client.patch<Alias>(`${at.path}/${alias.id}`, {})).body).toMatchObject({ name: 'new' })
    expectProblem(await executeSync(at.process, { tag: 'old' }), 404, { code: 'version_not_found' })
  })

  test('they are listed newest first, in pages, all or those of one version', async () => {
    const at = await stage()
    await makeAlias(at, 'a', at.one.id)
    await makeAlias(at, 'b', at.two.id)
    await makeAlias(at, 'c', at.one.id)
    const names = async (query: Record<string, string | number>) => {
      const { body } = await client.get<Page<Alias>>(at.path, query)
      return body.data.map(({ name }) => name)
    }
    expect(await names({})).toEqual(['c', 'b', 'a'])
    expect(await names({ versionId: at.one.id })).toEqual(['c', 'a'])
    expect(await names({ versionId: 'two' })).toEqual(['b'])
    expect(await names({ versionId: '' })).toEqual(['c', 'b', 'a'])
    expect((await client.get(at.path, { limit: 2 })).body).toMatchObject({ hasNextPage: true, total: 3, limit: 2 })
  })

  test('a name is unique per process', async () => {
    const at = await stage()
    const [first] = await Promise.all([makeAlias(at, 'x', at.one.id), makeAlias(at, 'y', at.one.id)])
    expectProblem(await client.post(at.path, { name: 'x', versionId: at.two.id }), 400, { path: '/name' })
    expectProblem(await client.patch(`${at.path}/${first.id}`, { name: 'y' }), 400, { path: '/name' })
    expect((await client.patch(`${at.path}/${first.id}`, { name: 'x' })).status).toBe(200)
    await makeAlias(await stage().then((other) => other), 'x', 'one')
  })

  test('a name may not be a tag of the process', async () => {
    const at = await stage()
    expectProblem(await client.post(at.path, { name: 'two', versionId: at.one.id }), 400, { path: '/name' })
    const alias = await makeAlias(at, 'free', at.one.id)
    expectProblem(await client.patch(`${at.path}/${alias.id}`, { name: 'one' }), 400, { path: '/name' })
  })

  test.for([undefined, null, '', 'a b', 'ü', 'x'.repeat(101), crypto.randomUUID(), 7])(
    'the name %j is refused with its path',
    async (name) => {
      const at = await stage()
      expectProblem(await client.post(at.path, { name, versionId: at.one.id }), 400, { path: '/name' })
    },
  )

  test.for([undefined, null, 5, {}])('the versionId %j is refused with its path', async (versionId) => {
    const at = await stage()
    expectProblem(await client.post(at.path, { name: 'a', versionId }), 400, { path: '/versionId' })
  })

  test('a version that is not there gives 404 with its code', async () => {
    const at = await stage()
    const foreign = await stage()
    for (const versionId of [crypto.randomUUID(), 'three', foreign.one.id]) {
      expectProblem(await client.post(at.path, { name: 'a', versionId }), 404, { code: 'version_not_found' })
      const alias = await makeAlias(at, `b${versionId.slice(-6)}`, at.one.id)
      expectProblem(await client.patch(`${at.path}/${alias.id}`, { versionId }), 404, { code: 'version_not_found' })
    }
  })

  test('a deleted alias is gone, its version stays', async () => {
    const at = await stage()
    const alias = await makeAlias(at, 'gone', at.one.id)
    const answer = await client.delete(`${at.path}/${alias.id}`)
    expect([answer.status, answer.text]).toEqual([200, ''])
    expectProblem(await client.get(`${at.path}/${alias.id}`), 404, { code: 'alias_not_found' })
    expectProblem(await client.delete(`${at.path}/${alias.id}`), 404, { code: 'alias_not_found' })
    expectProblem(await executeSync(at.process, { tag: 'gone' }), 404, { code: 'version_not_found' })
    expect((await executeSync(at.process, { tag: 'one' })).body).toBe(1)
  })

  test('an alias of another process, or a malformed id, is not found here', async () => {
    const [at, foreign] = await Promise.all([stage(), stage()])
    const alias = await makeAlias(foreign, 'theirs', foreign.one.id)
    for (const id of [alias.id, 'theirs', 'not-an-id', crypto.randomUUID()]) {
      expectProblem(await client.get(`${at.path}/${id}`), 404, { code: 'alias_not_found' })
      expectProblem(await client.patch(`${at.path}/${id}`, { name: 'mine' }), 404, { code: 'alias_not_found' })
      expectProblem(await client.delete(`${at.path}/${id}`), 404, { code: 'alias_not_found' })
    }
  })
})
