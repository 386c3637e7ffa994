import { describe, expect, test } from 'vitest'
import type { Execution, Process } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { awaitRunning, execute, executeSync, makeProcess, makeWebhook, publish } from './runs.ts'
import { client } from './shared-system.ts'
import { waitUntil } from '../system/wait-until.ts'

const patch = (process: Process, input: unknown) => client.patch<Process>(`/processes/${process.id}`, input)

describe('updating a process', () => {
  test('absent fields stay, given ones replace, and the change is signed', async () => {
    const process = await makeProcess({ description: 'd', readme: 'r', sourceCode: 'return 1', tags: ['a'] })
    const { body, status } = await patch(process, { description: 'new' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...process,
      description: 'new',
      revision: 2,
      sourceDigest: expect.any(String),
      updatedAt: expect.any(String),
      updatedBy: expect.any(String),
    })
    expect(Date.parse(body.updatedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(process.createdAt))
  })

  test('null clears description, readme and parametersSchema', async () => {
    const process = await makeProcess({ description: 'd', readme: 'r', parametersSchema: { type: 'object' } })
    const { body } = await patch(process, { description: null, readme: null, parametersSchema: null })
    expect(body.description ?? null).toBeNull()
    expect(body.readme ?? null).toBeNull()
    expect(body.parametersSchema).toBeNull()
  })

  test('a webhook password stays until a new one is given', async () => {
    const process = await makeWebhook('return 1', { webhook: { enabled: true, username: 'u', password: 'first' } })
    const call = (password: string) =>
      client.webhook('GET', process.slug, { headers: { authorization: `Basic ${btoa(`u:${password}`)}` } })
    await patch(process, { webhook: { enabled: true } })
    expect((await call('first')).status).toBe(200)
    await patch(process, { webhook: { password: 'second' } })
    expect((await call('first')).status).toBe(401)
    expect((await call('second')).status).toBe(200)
  })

  test.for([null, ''])('the username %j removes the credentials', async (username) => {
    const process = await makeWebhook('return 1', { webhook: { enabled: true, username: 'u', password: 'p' } })
    expect((await client.webhook('GET', process.slug)).status).toBe(401)
    const { body } = await patch(process, { webhook: { username } })
    expect(body.webhook).toEqual({ enabled: true })
    expect((await client.webhook('GET', process.slug)).status).toBe(200)
  })

  test('new source is what the next run runs', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    for (const value of [2, 3, 4]) {
      await patch(process, { sourceCode: `return ${value}` })
      expect((await executeSync(process)).body).toBe(value)
    }
  })

  test('the deprecated script is honoured on update where top-level fields are absent', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const { body } = await patch(process, { script: { sourceCode: 'return 2' } })
    expect(body.sourceCode).toBe('return 2')
  })
})

describe('deleting a process', () => {
  test('it answers 200 with an empty body, then 404; the slug is free at once', async () => {
    const process = await makeProcess()
    const answer = await client.delete(`/processes/${process.slug}`)
    expect([answer.status, answer.text]).toEqual([200, ''])
    for (const identifier of [process.id, process.slug])
      expectProblem(await client.get(`/processes/${identifier}`), 404, { code: 'process_not_found' })
    expectProblem(await client.delete(`/processes/${process.id}`), 404, { code: 'process_not_found' })
    expect((await makeProcess({ slug: process.slug })).slug).toBe(process.slug)
  })

  test('its executions go with it, and what runs is killed first', async () => {
    const process = await makeProcess({ sourceCode: 'await new Promise((done) => setTimeout(done, 120_000))' })
    const id = await execute(process)
    await awaitRunning(id)
    expect((await client.delete(`/processes/${process.id}`)).status).toBe(200)
    expectProblem(await client.get(`/executions/${id}`), 404, { code: 'execution_not_found' })
    const list = await client.get<{ data: Execution[] }>('/executions', { processId: process.id })
    expect(list.body.data ?? []).toEqual([])
  })

  test('its versions, aliases, runs and webhook are gone too', async () => {
    const process = await makeWebhook('return 1')
    const version = await publish(process, { tag: 'v1' })
    await client.post(`/processes/${process.id}/aliases`, { name: 'live', versionId: version.id })
    await client.delete(`/processes/${process.id}`)
    expectProblem(await client.get(`/processes/${process.id}/versions`), 404)
    expectProblem(await client.get(`/processes/${process.id}/versions/${version.id}`), 404)
    expectProblem(await client.get(`/processes/${process.id}/aliases`), 404)
    expectProblem(await client.post(`/processes/${process.id}/execute`, {}), 404, { code: 'process_not_found' })
    await waitUntil('the webhook to be gone', async () => (await client.webhook('GET', process.slug)).status === 404, {
      timeoutMs: 15_000,
    })
  })
})
