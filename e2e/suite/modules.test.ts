import { describe, expect, test } from 'vitest'
import type { Alias, Module, Page, Process } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { executeSync, makeProcess, runProcess } from './runs.ts'
import { client, unique } from './shared-system.ts'

async function makeModule(fields: Record<string, unknown> = {}): Promise<Module> {
  const answer = await client.post<Module>('/modules', { name: unique(), ...fields })
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

const valueOf = async (process: Process) => (await executeSync(process)).body

describe('modules', () => {
  test('a module is created, read, listed, changed and deleted', async () => {
    const made = await makeModule({ sourceCode: 'exports.a = 1' })
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: made.name,
      programmingLanguage: 'JAVASCRIPT',
      sourceCode: 'exports.a = 1',
      createdBy: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
      revision: 1,
      sourceDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const path = `/modules/${made.id}`
    expect((await client.get(path)).body).toEqual(made)
    const { body } = await client.get<Page<Module>>('/modules', { limit: 1000 })
    expect(body.data).toContainEqual(made)
    const changed = await client.patch<Module>(path, { sourceCode: 'exports.a = 2', name: `${made.name}.x` })
    expect(changed.body).toMatchObject({
      sourceCode: 'exports.a = 2',
      name: `${made.name}.x`,
      updatedAt: expect.any(String),
    })
    const deleted = await client.delete(path)
    expect([deleted.status, deleted.text]).toEqual([200, ''])
    expectProblem(await client.get(path), 404, { code: 'module_not_found' })
  })

  test('the deprecated script is honoured', async () => {
    const script = { programmingLanguage: 'PYTHON', sourceCode: 'a = 1' }
    expect(await makeModule({ script })).toMatchObject(script)
  })

  test('versions and aliases pin what runs import; without, they import the current source', async () => {
    const { id, name } = await makeModule({ sourceCode: 'module.exports = 1' })
    const version = await client.post<{ id: string }>(`/modules/${id}/versions`, { tag: 'v1', comment: 'first' })
    expect(version.body).toEqual({
      id: expect.any(String),
      tag: 'v1',
      comment: 'first',
      programmingLanguage: 'JAVASCRIPT',
      sourceCode: 'module.exports = 1',
      createdBy: expect.any(String),
      createdAt: expect.any(String),
    })
    const alias = await client.post<Alias>(`/modules/${id}/aliases`, { name: 'live', versionId: 'v1' })
    expect(alias.body).toMatchObject({ name: 'live', versionId: version.body.id })
    await client.patch(`/modules/${id}`, { sourceCode: 'module.exports = 2' })
    const source = `return [require('${name}'), svc.import('${name}', 'v1'), svc.import('${name}', 'live')]`
    const process = await makeProcess({ sourceCode: source })
    expect(await valueOf(process)).toEqual([2, 1, 1])
    const { execution } = await runProcess(process)
    const { body } = await client.get<{ modules: object[] }>(`/executions/${execution.id}/source`)
    expect(body.modules).toHaveLength(2)
    expect(body.modules).toContainEqual({ name, sourceCode: 'module.exports = 2' })
    const versionId = version.body.id
    expect(body.modules).toContainEqual({ name, versionId, tag: 'v1', sourceCode: 'module.exports = 1' })
    await client.patch(`/modules/${id}`, { sourceCode: 'module.exports = 3' })
    expect(await valueOf(process)).toEqual([3, 1, 1])
  })

  test('Python imports them, too', async () => {
    const name = unique('lib').replaceAll('-', '_')
    await makeModule({ name, programmingLanguage: 'PYTHON', sourceCode: 'def twice(n):\n    return 2 * n' })
    const sourceCode = `import ${name}\nreturn ${name}.twice(svc.import_module("${name}").twice(1))`
    expect(await valueOf(await makeProcess({ programmingLanguage: 'PYTHON', sourceCode }))).toBe(4)
  })

  test('one that something imports keeps its name and stays, and the refusal names who does', async () => {
    const { id, name } = await makeModule()
    const process = await makeProcess({ sourceCode: `import '${name}'` })
    for (const answer of [
      await client.patch(`/modules/${id}`, { name: unique() }),
      await client.delete(`/modules/${id}`),
    ]) {
      expectProblem(answer, 409, { code: 'module_in_use' })
      expect(answer.text).toContain(process.slug)
    }
    expect((await client.patch(`/modules/${id}`, { sourceCode: '1' })).status).toBe(200)
    await client.delete(`/processes/${process.id}`)
    expect((await client.delete(`/modules/${id}`)).status).toBe(200)
  })

  test('a missing one ends the run as ERROR that says which', async () => {
    const { execution } = await runProcess(await makeProcess({ sourceCode: "require('not-there')" }))
    expect(execution.status).toBe('ERROR')
    expect(execution.timeline.events.at(-1)?.explanation).toMatch(
      /^Error: Cannot find module 'not-there'; to add a package, name it in .*dependencies/,
    )
  })
})
