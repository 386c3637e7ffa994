import { describe, expect, test } from 'vitest'
import type { Execution } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { awaitEnd, execute, executeSync, executionOf, makeProcess, publish, statusesOf } from './runs.ts'
import { client, shared, unique } from './shared-system.ts'

describe('executing a process', () => {
  test('execute answers 202 with the id in body, header and Location', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const answer = await client.post<{ executionId: string }>(`/processes/${process.slug}/execute`, {})
    expect(answer.status).toBe(202)
    const { executionId } = answer.body
    expect(answer.body).toEqual({ executionId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect(answer.headers.get('svc-execution-id')).toBe(executionId)
    const location = answer.headers.get('location') ?? ''
    expect(location).toBe(`${client.rest}/executions/${executionId}`)
    const execution = await awaitEnd(executionId)
    expect(execution).toMatchObject({ id: executionId, status: 'FINISHED', returnValue: '1' })
  })

  test('a finished execution has every field', async () => {
    const process = await makeProcess({ sourceCode: 'return { got: svc.context.parameters }' })
    const answer = await client.post(`/processes/${process.id}/execute-sync`, {
      parameters: { a: [1, { b: null }] },
      comment: 'by hand',
    })
    const id = answer.headers.get('svc-execution-id') ?? ''
    const execution = await executionOf(id)
    expect(execution).toMatchObject({
      id,
      processId: process.id,
      processName: process.name,
      processSlug: process.slug,
      status: 'FINISHED',
      parameters: { a: [1, { b: null }] },
      comment: 'by hand',
      returnValue: '{"got":{"a":[1,{"b":null}]}}',
      settings: { timeout: 300_000 },
      createdBy: expect.stringMatching(/\S/),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,}Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    })
    expect(execution).not.toHaveProperty('scheduledId')
  })

  test('one that can start at once goes CREATED, RUNNING, FINISHED, and events have exactly their members', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const { headers } = await executeSync(process)
    const { timeline } = await executionOf(headers.get('svc-execution-id') ?? '')
    const statuses = timeline.events.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 'QUEUED' && status !== 'DEQUEUED')).toEqual([
      'CREATED',
      'RUNNING',
      'FINISHED',
    ])
    for (const event of timeline.events)
      expect(
        Object.keys(event)
          .filter((key) => key !== 'explanation')
          .toSorted(),
      ).toEqual(['status', 'timestamp'])
    const times = timeline.events.map(({ timestamp }) => Date.parse(timestamp))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test.for([
    ['return 5', '5'],
    ['return "text"', '"text"'],
    ['return null', 'null'],
    ['', 'null'],
    ['return { a: [1, "2", null, true] }', '{"a":[1,"2",null,true]}'],
    ['return 0.1', '0.1'],
    ['return "\\u0000 \\ud800 \u2028"', undefined],
  ] as const)('execute-sync of %j answers 203 with the bare value as JSON', async ([sourceCode, text]) => {
    const process = await makeProcess({ sourceCode })
    const answer = await executeSync(process)
    expect(answer.status, answer.text).toBe(203)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(answer.headers.get('svc-execution-id')).toMatch(/^[0-9a-f-]{36}$/)
    if (text !== undefined) expect(answer.text).toBe(text)
  })

  test('a failed run answers 500 with what its code has failed with', async () => {
    const process = await makeProcess({ sourceCode: '\n\nthrow new TypeError("inner detail")' })
    const answer = await executeSync(process)
    const executionId = answer.headers.get('svc-execution-id') ?? ''
    const { error } = expectProblem(answer, 500, { executionId })
    expect(error).toEqual({ name: 'TypeError', message: 'inner detail', line: 3 })
    const python = await makeProcess({
      programmingLanguage: 'PYTHON',
      sourceCode: 'def inner():\n    raise ValueError("no")\n\ninner()',
    })
    const other = expectProblem(await executeSync(python), 500)
    expect(other.error).toEqual({ name: 'ValueError', message: 'no', line: 2 })
    const execution = await executionOf(executionId)
    expect(execution.status).toBe('ERROR')
    expect(execution.timeline.events.at(-1)).toMatchObject({ status: 'ERROR', explanation: 'TypeError: inner detail' })
  })

  test('a killed run answers 500 to who waits for it', async () => {
    const comment = unique('killed')
    const process = await makeProcess({ sourceCode: 'await new Promise((done) => setTimeout(done, 120_000))' })
    const waiting = executeSync(process, { comment })
    const id = await idByComment(comment)
    expect((await client.put(`/executions/${id}/kill`)).status).toBe(202)
    expectProblem(await waiting, 500, { executionId: id })
  })

  test('parameters come as an object or as JSON text; absent ones are an empty object', async () => {
    const process = await makeProcess({ sourceCode: 'return svc.context.parameters' })
    for (const [parameters, value] of [
      [{ a: 1 }, { a: 1 }],
      ['{"b":[2]}', { b: [2] }],
      [undefined, {}],
      [null, {}],
      ['', {}],
      ['null', {}],
      ['[]', {}],
    ] as const)
      expect((await executeSync(process, { parameters })).body).toEqual(value)
  })

  test('numbers, unicode and odd keys survive unchanged', async () => {
    const text = '{"n":1e21,"z":-0.5,"u":"\\u0000ü🙂","__proto__":{"a":1},"constructor":2,"":3}'
    const process = await makeProcess({ sourceCode: 'return JSON.stringify(svc.context.parameters)' })
    const { body } = await executeSync<string>(process, { parameters: text })
    expect(JSON.parse(body)).toEqual(JSON.parse(text))
    expect(body).toContain('"__proto__":{"a":1}')
  })

  test.for([
    ['/parameters', { parameters: 'text' }],
    ['/comment', { comment: 'x'.repeat(10_001) }],
    ['/settings/timeout', { settings: { timeout: 99 } }],
    ['/settings/timeout', { settings: { timeout: 3_600_001 } }],
    ['/settings/agentPoolSlug', { settings: { agentPoolSlug: 'no-such-pool' } }],
    ['/settings/callbackUrl', { settings: { callbackUrl: 'not a url' } }],
    ['/settings/callbackUrl', { settings: { callbackUrl: 'ftp://example.com/' } }],
    ['/settings/callbackUrl', { settings: { callbackUrl: 'http://169.254.169.254/latest' } }],
    ['/settings/callbackUrl', { settings: { callbackUrl: 'http://10.0.0.1/' } }],
  ] as const)('a wrong value is refused with the path %s and nothing is started', async ([path, input]) => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    expectProblem(await client.post(`/processes/${process.id}/execute`, input), 400, { path })
    expectProblem(await executeSync(process, input), 400, { path })
    const list = await client.get<{ total: number }>('/executions', { processId: process.id })
    expect(list.body.total).toBe(0)
  })

  test('null and empty text count as absent for tag, comment and settings', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    for (const input of [
      { tag: null, comment: null, settings: null },
      { tag: '', comment: '', settings: '' },
    ])
      expect((await executeSync(process, input)).body).toBe(1)
  })

  test('an unknown process or tag gives 404 with its code', async () => {
    const process = await makeProcess()
    for (const call of ['execute', 'execute-sync']) {
      expectProblem(await client.post(`/processes/${unique()}/${call}`, {}), 404, { code: 'process_not_found' })
      expectProblem(await client.post(`/processes/${process.id}/${call}`, { tag: 'v9' }), 404, {
        code: 'version_not_found',
      })
    }
  })

  test('a run of a version says so, and the version is what runs', async () => {
    const process = await makeProcess({ sourceCode: 'return "current"' })
    const version = await publish(process, { tag: 'old', sourceCode: 'return "old"' })
    const { headers, body } = await executeSync(process, { tag: 'old' })
    expect(body).toBe('old')
    expect((await executionOf(headers.get('svc-execution-id') ?? '')).versionId).toBe(version.id)
    const current = await executeSync(process)
    expect(await executionOf(current.headers.get('svc-execution-id') ?? '')).not.toHaveProperty('versionId')
  })

  test('Initiated-By and comment are kept, and the token is the creator', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const answer = await client.post<{ executionId: string }>(
      `/processes/${process.id}/execute`,
      { comment: 'why' },
      { headers: { 'svc-initiated-by': 'anna@example.com' } },
    )
    const execution = await executionOf(answer.body.executionId)
    expect(execution).toMatchObject({ initiatedBy: 'anna@example.com', comment: 'why' })
    expect(execution.createdBy).toBe(process.createdBy)
  })

  test('a timeout ends the run as ERROR with the reason', async () => {
    const process = await makeProcess({ sourceCode: 'for (;;);' })
    const started = performance.now()
    const id = await execute(process, { settings: { timeout: 300 } })
    const execution = await awaitEnd(id)
    expect(performance.now() - started).toBeLessThan(30_000)
    expect(execution).toMatchObject({ status: 'ERROR', settings: { timeout: 300 } })
    expect(execution.timeline.events.at(-1)?.explanation).toMatch(/time/i)
  })

  test('a configured pool is accepted and shown', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const id = await execute(process, { settings: { agentPoolSlug: 'default' } })
    expect((await awaitEnd(id)).settings.agentPoolSlug).toBe('default')
  })

  test.skipIf(!shared.owned)(
    'a run of a pool without a runner waits QUEUED, is told why, and can be killed',
    async () => {
      const process = await makeProcess({ sourceCode: 'return 1' })
      const id = await execute(process, { settings: { agentPoolSlug: 'slow' } })
      const execution = await executionOf(id)
      expect(execution.status).toBe('QUEUED')
      expect(statusesOf(execution)).toEqual(['CREATED', 'QUEUED'])
      expect(execution.timeline.events.at(-1)?.explanation).toMatch(/\S/)
      expect((await client.put(`/executions/${id}/kill`)).status).toBe(202)
      expect(statusesOf(await awaitEnd(id))).toEqual(['CREATED', 'QUEUED', 'KILLED'])
    },
  )
})

function idByComment(comment: string): Promise<string> {
  const ask = async () => {
    const { body } = await client.get<{ data: Execution[] }>('/executions', { comment })
    return body.data.find(({ status }) => status === 'RUNNING')?.id
  }
  return waitUntil(`a run with the comment ${comment}`, ask, { timeoutMs: 60_000 })
}
