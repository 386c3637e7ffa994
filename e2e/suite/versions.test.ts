import { describe, expect, test } from 'vitest'
import { expectProblem } from './problem.ts'
import { executeSync, makeProcess, publish } from './runs.ts'
import { client } from './shared-system.ts'

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
})
