import { describe, expect, test } from 'vitest'
import { awaitEnd, executeSync, executionOf, makeGate, makeProcess, makeWebhook } from './runs.ts'
import { client, shared, unique } from './shared-system.ts'
import { waitUntil } from '../system/wait-until.ts'

describe('many callers at once', () => {
  test('no answer, log or value is ever that of another', async () => {
    const { slug } = await makeWebhook(`
      const { word } = svc.context.parameters
      console.log(word)
      await new Promise((done) => setTimeout(done, Math.random() * 20))
      return { word, id: svc.execution.id, seen: svc.context.request.headers['x-word'], env: process.env.WORD ?? null }`)
    const words = Array.from({ length: 120 }, () => unique('word'))
    const answers = await Promise.all(
      words.map((word) => client.webhook('POST', slug, { json: { word }, headers: { 'x-word': word } })),
    )
    for (const [n, answer] of answers.entries()) {
      const id = answer.headers.get('svc-execution-id')
      expect(answer.body).toEqual({ word: words[n], id, seen: words[n], env: null })
    }
    for (const n of [0, 37, 119]) {
      const id = answers[n]?.headers.get('svc-execution-id') ?? ''
      const { body } = await client.get<{ data: { message: string }[] }>(`/executions/${id}/logs`)
      expect(body.data.map(({ message }) => message)).toEqual([words[n]])
    }
  })

  test('a burst of asynchronous calls is accepted whole, and every run ends', async () => {
    const process = await makeProcess({ sourceCode: 'return svc.context.parameters.n' })
    const numbers = Array.from({ length: 150 }, (_, n) => n)
    const ids = await Promise.all(
      numbers.map(async (n) => {
        const answer = await client.post<{ executionId: string }>(`/processes/${process.id}/execute`, {
          parameters: { n },
        })
        expect(answer.status, answer.text).toBe(202)
        return answer.body.executionId
      }),
    )
    expect(new Set(ids).size).toBe(150)
    const finished = async () => {
      const query = { processId: process.id, status: 'FINISHED' }
      return (await client.get<{ total: number }>('/executions', query)).body.total === 150
    }
    await waitUntil('all runs to finish', finished, { timeoutMs: 40_000, everyMs: 200 })
    for (const n of [0, 75, 149]) expect((await executionOf(ids[n] ?? '')).returnValue).toBe(`${n}`)
  })

  test('transient values reach each of many callers', async () => {
    const process = await makeProcess({ sourceCode: 'return { isTransient: true, body: svc.context.parameters.n }' })
    const numbers = Array.from({ length: 60 }, (_, n) => n)
    const answers = await Promise.all(numbers.map((n) => executeSync(process, { parameters: { n } })))
    expect(answers.map(({ body }) => body)).toEqual(numbers)
  })

  test('a burst of right passwords is let in whole', async () => {
    const { slug } = await makeWebhook('return 1', { webhook: { enabled: true, username: 'u', password: 'right' } })
    const headers = { authorization: `Basic ${btoa('u:right')}` }
    const answers = await Promise.all(Array.from({ length: 30 }, () => client.webhook('GET', slug, { headers })))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(({ text }) => text)).toEqual([])
  })

  test('a caller who goes away does not end the run', async () => {
    const gate = await makeGate()
    const process = await makeProcess({ sourceCode: `${gate.wait}; return 1` })
    const comment = unique('gone')
    const caller = new AbortController()
    const leaving = fetch(`${client.rest}/processes/${process.id}/execute-sync`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shared.main.accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ comment }),
      signal: caller.signal,
    })
    const ask = async () => (await client.get<{ data: { id: string }[] }>('/executions', { comment })).body.data[0]?.id
    const id = await waitUntil('the run of the caller', ask, { timeoutMs: 40_000 })
    caller.abort()
    await expect(leaving).rejects.toMatchObject({ name: 'AbortError' })
    await gate.open()
    expect((await awaitEnd(id)).status).toBe('FINISHED')
  })
})
