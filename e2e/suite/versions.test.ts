import { describe, expect, test } from 'vitest'
import type { Page, Version } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { executeSync, makeProcess, publish } from './runs.ts'
import { client, unique } from './shared-system.ts'

describe('published versions', () => {
  test('a version takes what the process has now, and never changes with it', async () => {
    const process = await makeProcess({
      sourceCode: 'return 1',
      readme: 'first',
      parametersSchema: { type: 'object' },
      manifest: { dependencies: { a: '1' } },
      // Else its runs would wait for these packages.
      settings: { dependencies: { scopedToProcess: false } },
    })
    const version = await publish(process, { tag: 'v1.0', comment: 'the first' })
    expect(version).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tag: 'v1.0',
      programmingLanguage: 'JAVASCRIPT',
      sourceCode: 'return 1',
      parametersSchema: { type: 'object' },
      readme: 'first',
      manifest: { dependencies: { a: '1' } },
      comment: 'the first',
      createdBy: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
    })
    await client.patch(`/processes/${process.id}`, { sourceCode: 'return 2', readme: 'second', parametersSchema: null })
    expect((await client.get(`/processes/${process.id}/versions/v1.0`)).body).toEqual(version)
    expect((await executeSync(process)).body).toBe(2)
    expect((await executeSync(process, { tag: 'v1.0' })).body).toBe(1)
  })

  test('source, schema and readme may be given with the version', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const given = {
      tag: 'own',
      sourceCode: 'return 3',
      readme: 'own',
      parametersSchema: '{"type":"object","title":"x"}',
    }
    const version = await publish(process, given)
    expect(version).toMatchObject({ ...given, parametersSchema: { type: 'object', title: 'x' } })
    expect((await executeSync(process, { tag: 'own' })).body).toBe(3)
    expect((await executeSync(process)).body).toBe(1)
  })

  test('it is read and run by id and by tag', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const { id } = await publish(process, { tag: 'a' })
    const [byId, byTag] = await Promise.all([
      client.get(`/processes/${process.id}/versions/${id}`),
      client.get(`/processes/${process.slug}/versions/a`),
    ])
    expect(byId.body).toEqual(byTag.body)
    for (const tag of [id, 'a']) expect((await executeSync(process, { tag })).body).toBe(1)
  })

  test('they are listed newest first, in pages', async () => {
    const process = await makeProcess()
    for (const tag of ['1', '2', '3']) await publish(process, { tag })
    const { body } = await client.get<Page<Version>>(`/processes/${process.id}/versions`, { limit: 2 })
    expect(body).toMatchObject({ hasNextPage: true, page: 0, limit: 2, total: 3 })
    expect(body.data.map(({ tag }) => tag)).toEqual(['3', '2'])
    expectProblem(await client.get(`/processes/${process.id}/versions`, { limit: 0 }), 400)
  })

  test('a tag is unique per process, also among publications at the same time', async () => {
    const process = await makeProcess()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => client.post(`/processes/${process.id}/versions`, { tag: 'same' })),
    )
    expect(
      answers
        .map(({ status }) => `${status}`)
        .toSorted()
        .map(Number),
    ).toEqual([201, 400, 400, 400, 400])
    expectProblem(await client.post(`/processes/${process.id}/versions`, { tag: 'same' }), 400, { path: '/tag' })
    await publish(await makeProcess(), { tag: 'same' })
  })

  test.for([undefined, null, '', 'with space', 'ä', 'a/b', 'x'.repeat(101), crypto.randomUUID(), 5, {}, 'a\n'])(
    'the tag %j is refused with its path',
    async (tag) => {
      const process = await makeProcess()
      expectProblem(await client.post(`/processes/${process.id}/versions`, { tag }), 400, { path: '/tag' })
    },
  )

  test.for(['a', 'A.b_c-1', '...', 'x'.repeat(100), '0', '__proto__', 'constructor'])(
    'the tag %s is accepted',
    async (tag) => {
      const process = await makeProcess({ sourceCode: 'return "ran"' })
      await publish(process, { tag })
      expect((await executeSync(process, { tag })).body).toBe('ran')
    },
  )

  test.for([
    ['/sourceCode', { sourceCode: 5 }],
    ['/readme', { readme: {} }],
    ['/comment', { comment: [] }],
    ['/parametersSchema/type', { parametersSchema: '{"type":"x"}' }],
  ] as const)('a wrong value is refused with the path %s', async ([path, fields]) => {
    const process = await makeProcess()
    expectProblem(await client.post(`/processes/${process.id}/versions`, { tag: 'a', ...fields }), 400, { path })
  })

  test('a tag may not be the name of an alias of the process', async () => {
    const process = await makeProcess()
    const version = await publish(process, { tag: 'one' })
    await client.post(`/processes/${process.id}/aliases`, { name: 'live', versionId: version.id })
    expectProblem(await client.post(`/processes/${process.id}/versions`, { tag: 'live' }), 400, { path: '/tag' })
  })

  test('a deleted version is gone and its tag may be used again', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const first = await publish(process, { tag: 'again' })
    const answer = await client.delete(`/processes/${process.id}/versions/again`)
    expect([answer.status, answer.text]).toEqual([200, ''])
    expectProblem(await client.get(`/processes/${process.id}/versions/${first.id}`), 404, { code: 'version_not_found' })
    expectProblem(await executeSync(process, { tag: 'again' }), 404, { code: 'version_not_found' })
    const second = await publish(process, { tag: 'again', sourceCode: 'return 2' })
    expect(second.id).not.toBe(first.id)
    expect((await executeSync(process, { tag: 'again' })).body).toBe(2)
  })

  test('a version that an alias points to cannot be deleted; the refusal names the alias', async () => {
    const process = await makeProcess()
    const { id } = await publish(process, { tag: 'used' })
    await client.post(`/processes/${process.id}/aliases`, { name: 'pointer', versionId: id })
    const problem = expectProblem(await client.delete(`/processes/${process.id}/versions/${id}`), 400)
    expect(problem.detail).toContain('pointer')
    expect((await client.get(`/processes/${process.id}/versions/${id}`)).status).toBe(200)
  })

  test('a version of another process is not found here', async () => {
    const [mine, foreign] = await Promise.all([makeProcess(), makeProcess()])
    const { id } = await publish(foreign, { tag: 'theirs' })
    for (const version of [id, 'theirs', 'none', crypto.randomUUID(), '%20']) {
      const path = `/processes/${mine.id}/versions/${version}`
      expectProblem(await client.get(path), 404, { code: 'version_not_found' })
      expectProblem(await client.delete(path), 404, { code: 'version_not_found' })
      expectProblem(await executeSync(mine, { tag: decodeURIComponent(version) }), 404, { code: 'version_not_found' })
    }
  })

  test('versions of a process that is not there give 404', async () => {
    const path = `/processes/${unique()}/versions`
    expectProblem(await client.get(path), 404, { code: 'process_not_found' })
    expectProblem(await client.post(path, { tag: 'a' }), 404, { code: 'process_not_found' })
    expectProblem(await client.get(`${path}/a`), 404, { code: 'process_not_found' })
  })
})
