import { describe, expect, test } from 'vitest'
import type { Limits, Process } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { leakIn } from '../client/leaks.ts'
import { expectProblem } from './problem.ts'
import { sendRaw } from './raw-http.ts'
import { awaitEnd, execute, executeSync, makeGate, makeProcess, makeWebhook } from './runs.ts'
import { client, shared } from './shared-system.ts'

const MiB = 1024 * 1024
const json = { 'content-type': 'application/json' }
const authorization = `Authorization: Bearer ${shared.main.accessToken}`
const path = `/api/${shared.main.team}/rest`

test('what the team may have is there with what is in use, and the pools with their slots', async () => {
  const gate = await makeGate()
  const process = await makeProcess({ sourceCode: gate.wait })
  const of = async (name: string) =>
    (await client.get<Limits>('/limits')).body.limits.find((limit) => limit.name === name)
  const id = await execute(process)
  await waitUntil('it counts', async () => ((await of('running'))?.inUse ?? 0) > 0, { timeoutMs: 30_000 })
  const { headerPrefix, agentPools, limits } = (await client.get<Limits>('/limits')).body
  expect(headerPrefix).toBe('Svc-')
  const pool = agentPools.find(({ slug }) => slug === 'default')
  expect(pool?.languages).toEqual(['JAVASCRIPT', 'PYTHON'])
  expect(pool?.slots).toBeGreaterThan(0)
  expect(pool?.freeSlots).toBeLessThanOrEqual(pool?.slots ?? 0)
  const names = limits.map(({ name }) => name)
  for (const name of ['running', 'queued', 'versions', 'stored', 'sandboxes', 'streams']) expect(names).toContain(name)
  for (const name of ['processes', 'modules', 'variables', 'schedules'])
    expect(limits.find((limit) => limit.name === name)).toMatchObject({
      allowed: expect.any(Number),
      inUse: expect.any(Number),
    })
  expect(limits.find(({ name }) => name === 'processes')?.inUse).toBeGreaterThan(0)
  await gate.open()
  await awaitEnd(id)
})

describe('bodies', () => {
  test('parameters above 1 MiB give 413, just below they run', async () => {
    const process = await makeProcess({ sourceCode: 'return svc.context.parameters.s.length' })
    expect((await executeSync(process, { parameters: { s: 'x'.repeat(MiB - 100) } })).body).toBe(MiB - 100)
    expectProblem(await executeSync(process, { parameters: { s: 'x'.repeat(MiB) } }), 413)
    expectProblem(await executeSync(process, { parameters: JSON.stringify({ s: 'x'.repeat(MiB) }) }), 413)
    expectProblem(
      await client.post(`/processes/${process.id}/execute`, { parameters: { s: 'ü'.repeat(MiB / 2) } }),
      413,
    )
  })

  test('a webhook body above the parameters limit gives 413', async () => {
    const { slug } = await makeWebhook('return 1')
    expectProblem(await client.webhook('POST', slug, { json: { s: 'x'.repeat(MiB) } }), 413)
  })

  test('a body above 10 MiB gives 413, declared or not, and the connection of others is unhurt', async () => {
    const body = `{"name":"${'x'.repeat(10 * MiB)}"}`
    expectProblem(await client.call('POST', '/processes', { body, headers: json }), 413)
    const head = `POST ${path}/processes HTTP/1.1\r\nHost: x\r\n${authorization}\r\nContent-Type: application/json\r\n`
    const declared = await sendRaw(shared.host, `${head}Content-Length: 10737418240\r\n\r\n{"name":`)
    expect(declared.status).toBe(413)
    const chunk = `80000\r\n${'x'.repeat(0x80000)}\r\n`
    const chunked = await sendRaw(shared.host, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(22)}`)
    expect([413, 0]).toContain(chunked.status)
    expect((await client.get('/team')).status).toBe(200)
  })

  test('a source of 5 MiB is stored and read', async () => {
    const sourceCode = `return 1 //${'z'.repeat(5 * MiB)}`
    const process = await makeProcess({ sourceCode })
    expect((await client.get<Process>(`/processes/${process.id}`)).body.sourceCode?.length).toBe(sourceCode.length)
  })

  test('deep JSON is refused or kept, and never breaks anything', async () => {
    const process = await makeProcess({ sourceCode: 'return JSON.stringify(svc.context.parameters).length' })
    for (const depth of [100, 5000, 200_000]) {
      const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
      const answer = await client.call('POST', `/processes/${process.id}/execute-sync`, {
        body: `{"parameters":${deep}}`,
        headers: json,
      })
      if (answer.status >= 500)
        expectProblem(answer, 500, { executionId: answer.headers.get('svc-execution-id') ?? 'one' })
      else expect([203, 400, 413]).toContain(answer.status)
    }
  })
})

describe('HTTP as such', () => {
  test('headers above 16 KiB give 431', async () => {
    const answer = await sendRaw(
      shared.host,
      `GET ${path}/team HTTP/1.1\r\nHost: x\r\n${authorization}\r\nX-Big: ${'x'.repeat(17_000)}\r\n\r\n`,
    )
    expect(answer.status).toBe(431)
    expect(answer.head).toMatch(/content-type: application\/problem\+json/i)
  })

  test.for([
    ['garbage', 'GARBAGE\r\n\r\n'],
    ['no version', 'GET /\r\n\r\n'],
    ['a bad header name', 'GET / HTTP/1.1\r\nHost: x\r\nBad Name: 1\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two lengths', `POST ${path}/processes HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}`],
    [
      'length and chunks',
      `POST ${path}/processes HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a negative length', `POST ${path}/processes HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n`],
    ['a bad chunk', `POST ${path}/processes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n`],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\u0000b\r\n\r\n'],
    ['a bare line feed', 'GET / HTTP/1.1\nHost: x\nX: y\n\n'],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001'],
  ] as const)('%s is refused or cut, without words of the inside', async ([, bytes]) => {
    const { status, body } = await sendRaw(shared.host, bytes, 2000)
    expect(status === 0 || (status >= 200 && status < 500), `${status}`).toBe(true)
    expect(leakIn(body)).toBeUndefined()
  })

  test.for([
    ['DELETE', '/processes'],
    ['PUT', '/processes'],
    ['POST', '/team'],
    ['DELETE', '/executions/00000000-0000-0000-0000-000000000000'],
    ['GET', '/auth/token'],
    ['GET', '/processes/x/execute'],
    ['PATCH', '/executions'],
  ] as const)('%s %s gives 405 with Allow', async ([method, to]) => {
    const answer = await client.call(method, to)
    expectProblem(answer, 405)
    expect(answer.headers.get('allow')).toMatch(/^[A-Z, ]+$/)
  })

  test.for(['/nothing', '/processes/a/b/c/d', '/executions/x/nothing', '/%2e%2e/%2e%2e', '//processes'])(
    'the path %s gives 404 or is read as a path of ours',
    async (to) => {
      const answer = await client.call('GET', to)
      expect([404, 403, 401, 200]).toContain(answer.status)
      if (answer.status !== 200) expectProblem(answer, answer.status)
    },
  )

  test('addresses outside the interface give 404 in problem form', async () => {
    for (const to of ['/', '/api', '/api/x', `/api/${shared.main.team}`, '/favicon.ico', '/.env', '/admin', '/%00']) {
      const response = await fetch(`${shared.host}${to}`)
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
      expect(leakIn(await response.text())).toBeUndefined()
    }
  })

  test('a sane request id is taken, any other replaced', async () => {
    const ask = async (id: string) => {
      const answer = await client.call('GET', '/nothing', { headers: { 'x-request-id': id } })
      return [answer.headers.get('x-request-id'), (answer.body as { requestId: string }).requestId]
    }
    expect(await ask('my-id-1')).toEqual(['my-id-1', 'my-id-1'])
    for (const id of ['x'.repeat(1000), 'a b<script>', '{"a":1}']) {
      const [header, inBody] = await ask(id)
      expect(header).not.toBe(id)
      expect(inBody).toBe(header)
    }
    expect((await client.get('/team')).headers.get('x-request-id')).toMatch(/\S/)
  })

  test('a slow or broken body holds nobody else up', async () => {
    const head = `POST ${path}/processes HTTP/1.1\r\nHost: x\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name"`
    const slow = Array.from({ length: 30 }, () => sendRaw(shared.host, head, 6000))
    const first = await Promise.race([client.get('/team'), ...slow])
    expect(first.status).toBe(200)
    await Promise.all(slow)
  })
})
