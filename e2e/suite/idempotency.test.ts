import { describe, expect, test } from 'vitest'
import type { Answer } from '../client/client.ts'
import { expectProblem } from './problem.ts'
import { awaitEnd, makeProcess, makeWebhook } from './runs.ts'
import { client, hasOther, other, unique } from './shared-system.ts'

const counted =
  'await new Promise((done) => setTimeout(done, svc.context.parameters.waitMs ?? 0)); return svc.execution.id'

async function executionsOf(processId: string): Promise<number> {
  return (await client.get<{ total: number }>('/executions', { processId })).body.total
}

const replayed = (answer: Answer) => answer.headers.get('idempotency-replayed')

describe('idempotency keys', () => {
  test('the same key on execute gives the same execution', async () => {
    const process = await makeProcess({ sourceCode: counted })
    const call = (key: string) =>
      client.post<{ executionId: string }>(
        `/processes/${process.id}/execute`,
        { parameters: { a: 1 } },
        { headers: { 'idempotency-key': key } },
      )
    const key = unique('key')
    const [first, second] = [await call(key), await call(key)]
    expect([first.status, second.status]).toEqual([202, 202])
    expect(second.body).toEqual(first.body)
    expect([replayed(first), replayed(second)]).toEqual([null, 'true'])
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
    expect((await call(unique('key'))).body).not.toEqual(first.body)
    expect(await executionsOf(process.id)).toBe(2)
  })

  test('a replay of a failed sync call fails the same way', async () => {
    const process = await makeProcess({ sourceCode: 'throw new Error("x")' })
    const headers = { 'idempotency-key': unique('key') }
    const call = () => client.post(`/processes/${process.id}/execute-sync`, {}, { headers })
    const first = await call()
    const second = await call()
    expectProblem(second, 500, { executionId: first.headers.get('svc-execution-id') ?? '' })
    expect(replayed(second)).toBe('true')
    expect(await executionsOf(process.id)).toBe(1)
  })

  test('the same key with another request gives 409 and starts nothing', async () => {
    const process = await makeProcess({ sourceCode: counted })
    const headers = { 'idempotency-key': unique('key') }
    const call = (input: unknown, path = 'execute') =>
      client.post(`/processes/${process.id}/${path}`, input, { headers })
    const first = await call({ parameters: { a: 1 } })
    await awaitEnd((first.body as { executionId: string }).executionId)
    expectProblem(await call({ parameters: { a: 2 } }), 409, { code: 'idempotency_key_reused' })
    expectProblem(await call({ parameters: { a: 1 }, comment: 'other' }), 409, { code: 'idempotency_key_reused' })
    expect(await executionsOf(process.id)).toBe(1)
  })

  test('webhooks: the same key gives the same execution and answer, sync and async', async () => {
    const process = await makeWebhook(counted)
    for (const query of [{ q: '1' }, { q: '1', async: 'true' }]) {
      const headers = { 'idempotency-key': unique('key') }
      const call = () => client.webhook('POST', process.slug, { headers, query, json: { a: 1 } })
      const [first, second] = [await call(), await call()]
      expect(second.status).toBe(first.status)
      expect(second.text).toBe(first.text)
      expect(second.headers.get('svc-execution-id')).toBe(first.headers.get('svc-execution-id'))
      expect([replayed(first), replayed(second)]).toEqual([null, 'true'])
    }
    expect(await executionsOf(process.id)).toBe(2)
  })

  test('webhooks: another body, query or version tag under the same key gives 409', async () => {
    const process = await makeWebhook(counted)
    await client.post(`/processes/${process.id}/versions`, { tag: 'v1' })
    const key = unique('key')
    const call = (more: { json?: unknown; query?: Record<string, string>; headers?: Record<string, string> }) =>
      client.webhook('POST', process.slug, {
        json: { a: 1 },
        ...more,
        headers: { 'idempotency-key': key, ...more.headers },
      })
    expect((await call({})).status).toBe(200)
    for (const more of [{ json: { a: 2 } }, { query: { b: '1' } }, { headers: { 'svc-version-tag': 'v1' } }])
      expectProblem(await call(more), 409, { code: 'idempotency_key_reused' })
    expect(await executionsOf(process.id)).toBe(1)
  })

  test('the same key is another one for another process, for calls over REST, and for another method', async () => {
    const source = 'return [svc.execution.id, svc.context.request?.method ?? null, svc.context.parameters]'
    const [one, two] = [await makeWebhook(source), await makeWebhook(source)]
    const headers = { 'idempotency-key': unique('key') }
    const query = { a: '1' }
    const first = await client.webhook<[string]>('POST', one.slug, { headers, query })
    const second = await client.webhook<[string]>('POST', two.slug, { headers, query })
    expect([first.status, second.status, replayed(second)]).toEqual([200, 200, null])
    expect(second.body[0]).not.toBe(first.body[0])
    const overRest = await client.post<[string]>(`/processes/${one.id}/execute-sync`, {}, { headers })
    expect([overRest.status, replayed(overRest)]).toEqual([203, null])
    expectProblem(await client.webhook('GET', one.slug, { headers, query }), 409, { code: 'idempotency_key_reused' })
    expect(await executionsOf(one.id)).toBe(2)
  })

  test.skipIf(!hasOther)("another team's process of the same name has keys of its own", async () => {
    const mine = await makeWebhook('return "mine"')
    const theirs = await makeProcess(
      { slug: mine.slug, sourceCode: 'return "theirs"', webhook: { enabled: true } },
      other,
    )
    const headers = { 'idempotency-key': unique('key') }
    expect((await client.webhook('POST', mine.slug, { headers })).body).toBe('mine')
    expect((await other.webhook('POST', theirs.slug, { headers })).body).toBe('theirs')
  })

  test('a refused call does not use the key up', async () => {
    const process = await makeProcess({ sourceCode: counted })
    const headers = { 'idempotency-key': unique('key') }
    expectProblem(await client.post(`/processes/${process.id}/execute`, { tag: 'none' }, { headers }), 404)
    expect((await client.post(`/processes/${process.id}/execute`, {}, { headers })).status).toBe(202)
  })
})
