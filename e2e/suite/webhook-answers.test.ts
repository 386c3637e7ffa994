import { describe, expect, test } from 'vitest'
import { expectProblem } from './problem.ts'
import { awaitLogs, executionOf, logsOf, makeWebhook } from './runs.ts'
import { client } from './shared-system.ts'

/** The messages of the level WARNING that the run of an answer has in its log. */
async function warningsOf({ headers }: { headers: Headers }): Promise<string[]> {
  const id = headers.get('svc-execution-id') ?? ''
  const entries = await awaitLogs(id, (lines) => lines.some(({ level }) => level === 'WARNING'))
  return entries.filter(({ level }) => level === 'WARNING').map(({ message }) => message)
}

async function answerOf(sourceCode: string) {
  const { slug } = await makeWebhook(sourceCode)
  return client.webhook('GET', slug)
}

describe('webhook answers', () => {
  test.for([
    ['return { a: [1] }', 200, '{"a":[1]}', /^application\/json/],
    ['return "text ü"', 200, 'text ü', /^text\/plain/],
    ['', 204, '', null],
  ] as const)('%j answers %i %j', async ([source, status, text, type]) => {
    const answer = await answerOf(source)
    expect([answer.status, answer.text]).toEqual([status, text])
    if (type !== null) expect(answer.headers.get('content-type')).toMatch(type)
    expect(answer.headers.get('svc-execution-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test.for([
    ['return { status: "200", body: "x" }', 200, '{"status":"200","body":"x"}'],
    ['return { status: 302, headers: { location: "https://example.com/" } }', 302, ''],
    ['return { isTransient: true, body: { status: 201, headers: {}, body: "made" } }', 201, 'made'],
  ] as const)('%j answers %i %j', async ([source, status, text]) => {
    const answer = await answerOf(source)
    expect([answer.status, answer.text]).toEqual([status, text])
  })

  test('a described answer with other members is sent without them, and its log says so', async () => {
    const answer = await answerOf(`return { status: 401, body: 'bad signature', message: 'no', detail: { a: 1 } }`)
    expect([answer.status, answer.text]).toEqual([401, 'bad signature'])
    expect(await warningsOf(answer)).toEqual([expect.stringMatching(/"message","detail"/)])
  })

  test('a base64 body is sent as its bytes with its type', async () => {
    const { slug } = await makeWebhook(`return { status: 200, body: { base64: 'AP+A', contentType: 'image/png' } }`)
    const response = await fetch(`${client.webhooks}/${slug}`)
    expect(response.headers.get('content-type')).toBe('image/png')
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255, 128])
  })

  test('what can not be sent gives 500 and an ERROR log line', async () => {
    const answer = await answerOf('return { status: 200, headers: { "x-a": "line\\r\\nset-cookie: a=b" } }')
    const executionId = answer.headers.get('svc-execution-id') ?? ''
    expectProblem(answer, 500, { executionId })
    expect(answer.headers.has('set-cookie')).toBe(false)
    await awaitLogs(executionId, (entries) => entries.some(({ level }) => level === 'ERROR'))
  })

  test('hop-by-hop headers and cookies for other domains are dropped with a WARNING', async () => {
    const answer = await answerOf(`return { status: 200, body: 'x', headers: {
      connection: 'close', 'transfer-encoding': 'chunked', 'keep-alive': 'timeout=1', upgrade: 'h2c', 'content-length': '999', 'x-kept': '1',
      'set-cookie': 'a=b; Domain=elsewhere.example' } }`)
    expect([answer.status, answer.text]).toEqual([200, 'x'])
    expect(answer.headers.get('x-kept')).toBe('1')
    expect(answer.headers.has('upgrade')).toBe(false)
    expect(answer.headers.has('set-cookie')).toBe(false)
    expect((await warningsOf(answer)).join('\n')).toMatch(/cookie/)
  })

  test('cookies of our own, for the webhook’s path, and several headers of a name reach the caller', async () => {
    const { slug } = await makeWebhook(
      `return { status: 200, body: 'x', headers: { 'set-cookie': 'a=b; Path=/', 'x-list': 'a, b' } }`,
    )
    const answer = await client.webhook('GET', slug)
    expect(answer.headers.getSetCookie()).toEqual([`a=b; Path=${new URL(client.webhooks).pathname}/${slug}`])
    expect(answer.headers.get('x-list')).toBe('a, b')
  })

  test('a process cannot replace the execution id', async () => {
    const answer = await answerOf(
      `return { status: 200, body: svc.execution.id, headers: { 'svc-execution-id': 'forged' } }`,
    )
    expect(answer.headers.get('svc-execution-id')).toBe(answer.text)
  })

  test('answers are marked against sniffing and sandboxed, whatever policy the process sets', async () => {
    const plain = await answerOf('return "x"')
    expect(plain.headers.get('x-content-type-options')).toBe('nosniff')
    expect(plain.headers.get('content-security-policy')).toBe('sandbox')
    const own = await answerOf(
      `return { status: 200, body: 'x', headers: { 'Content-Security-Policy': "default-src 'self'" } }`,
    )
    expect(own.headers.get('content-security-policy')).toBe("sandbox; default-src 'self'")
    expect(own.headers.get('x-content-type-options')).toBe('nosniff')
    const page = await answerOf(
      `return { status: 200, body: 'x', headers: { 'Content-Security-Policy': 'sandbox allow-scripts allow-same-origin' } }`,
    )
    expect(page.headers.get('content-security-policy')).toBe('sandbox allow-scripts')
    expect(await warningsOf(page)).toEqual([expect.stringContaining('allow-same-origin')])
  })

  test('a failed run answers 500 with the fixed message; details are in the execution only', async () => {
    const answer = await answerOf('throw new Error("inner detail")')
    const executionId = answer.headers.get('svc-execution-id') ?? ''
    const problem = expectProblem(answer, 500, { executionId })
    expect(problem.message).toBe('Execution failed')
    expect(answer.text).not.toContain('inner detail')
    expect((await executionOf(executionId)).timeline.events.at(-1)?.explanation).toBe('Error: inner detail')
    expect(
      (await logsOf(executionId)).some(({ level, message }) => level === 'ERROR' && message.includes('inner detail')),
    ).toBe(true)
  })

  test('a transient value reaches the caller and is stored as a mark only', async () => {
    for (const source of [
      'return { isTransient: true, body: { a: 1 } }',
      'return { transient: true, data: { a: 1 } }',
    ]) {
      const answer = await answerOf(source)
      expect([answer.status, answer.text]).toEqual([200, '{"a":1}'])
      const execution = await executionOf(answer.headers.get('svc-execution-id') ?? '')
      expect(execution.returnValue).toBe('"[transient]"')
    }
  })
})
