import { describe, expect, test } from 'vitest'
import type { Alias, Process, Version } from '../client/records.ts'
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

  test('a moved alias runs the other version from then on', async () => {
    const at = await stage()
    const alias = await makeAlias(at, 'live', at.one.id)
    const moved = await client.patch<Alias>(`${at.path}/${alias.id}`, { versionId: 'two' })
    expect(moved.body).toMatchObject({
      ...alias,
      versionId: at.two.id,
      updatedBy: expect.any(String),
      updatedAt: expect.any(String),
      previousVersionIds: [at.one.id],
    })
    expect(alias).not.toHaveProperty('previousVersionIds')
    expect((await executeSync(at.process, { tag: 'live' })).body).toBe(2)
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
})
