import { describe, expect, test } from 'vitest'
import type { QueryValue } from '../client/client.ts'
import type { LogEntry, Page } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { awaitLogs, awaitRunning, execute, executionOf, logsOf, makeProcess, messagesOf, runCode } from './runs.ts'
import { client } from './shared-system.ts'

describe('logs', () => {
  test('each way of writing has its level, in order, and entries have exactly three members', async () => {
    const { logs } =
      await runCode(`console.debug('d'); console.log('l'); console.info('i'); console.warn('w'); console.error('e')
      process.stdout.write('out\\n'); process.stderr.write('err\\n'); console.trace('t')`)
    expect(logs.slice(0, 7).map(({ level, message }) => `${level} ${message}`)).toEqual([
      'DEBUG d',
      'INFO l',
      'INFO i',
      'WARNING w',
      'ERROR e',
      'INFO out',
      'ERROR err',
    ])
    for (const entry of logs) {
      expect(Object.keys(entry).toSorted()).toEqual(['level', 'message', 'timestamp'])
      expect(entry.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,}Z$/)
    }
    const times = logs.map(({ timestamp }) => timestamp)
    expect(times).toEqual(times.toSorted())
  })

  test('they are visible while the run goes on', async () => {
    const process = await makeProcess({
      sourceCode: 'console.log("first"); await new Promise((done) => setTimeout(done, 120_000)); return 1',
    })
    const id = await execute(process)
    await awaitRunning(id)
    const logs = await awaitLogs(id, (entries) => entries.length > 0)
    expect(messagesOf(logs)).toEqual(['first'])
    expect((await executionOf(id)).status).toBe('RUNNING')
    await client.put(`/executions/${id}/kill`)
    expect(messagesOf(await logsOf(id))).toContain('first')
  })

  test('pages follow each other, oldest first', async () => {
    const { execution } = await runCode('for (let n = 0; n < 25; n += 1) console.log(`line ${n}`)')
    const path = `/executions/${execution.id}/logs`
    const pages = await Promise.all([0, 1, 2].map((page) => client.get<Page<LogEntry>>(path, { page })))
    expect(pages.map(({ body }) => body.data.length)).toEqual([10, 10, 5])
    expect(pages.flatMap(({ body }) => messagesOf(body.data))).toEqual(
      Array.from({ length: 25 }, (_, n) => `line ${n}`),
    )
    expect(pages[0]?.body).toMatchObject({ hasNextPage: true, page: 0, limit: 10, total: 25 })
    expect(pages[2]?.body).toMatchObject({ hasNextPage: false, page: 2 })
    expect(
      (await client.get<Page<LogEntry>>(path, { limit: 7, page: 3 })).body.data.map(({ message }) => message),
    ).toEqual(['line 21', 'line 22', 'line 23', 'line 24'])
    expectProblem(await client.get(path, { limit: 'x' }), 400, { path: /\/limit$/ })
  })

  test('lines are found by level, by text in any case and by time', async () => {
    const { execution, logs } = await runCode(
      "console.log('One'); console.warn('two'); console.error('ONE more'); return 1",
    )
    const path = `/executions/${execution.id}/logs`
    const of = async (query: Record<string, QueryValue>) => {
      const { body } = await client.get<Page<LogEntry>>(path, query)
      expect(body.total).toBe(body.data.length)
      return messagesOf(body.data)
    }
    expect(await of({ level: 'WARNING' })).toEqual(['two'])
    expect(await of({ level: ['WARNING', 'INFO'] })).toEqual(['One', 'two'])
    expect(await of({ contains: 'one' })).toEqual(['One', 'ONE more'])
    expect(await of({ contains: 'one', level: 'ERROR' })).toEqual(['ONE more'])
    const [first, second] = logs
    expect(await of({ to: first?.timestamp ?? '' })).toEqual(['One'])
    expect(await of({ from: second?.timestamp ?? '', to: second?.timestamp ?? '' })).toEqual(['two'])
    const page = await client.get<Page<LogEntry>>(path, { contains: 'one', limit: 1, page: 1 })
    expect(page.body).toMatchObject({ total: 2, hasNextPage: false, data: [{ message: 'ONE more' }] })
    expectProblem(await client.get(path, { level: 'LOUD' }), 400, { path: /\/level$/ })
    expectProblem(await client.get(path, { from: 'x' }), 400, { path: /\/from$/ })
  })

  test('all of a log comes as plain text or as lines of JSON, where a client wants that more than JSON', async () => {
    const { execution } = await runCode(
      'for (let n = 0; n < 3000; n += 1) console.log(`line ${n} ${"x".repeat(100)}`); console.warn("last")',
    )
    const path = `/executions/${execution.id}/logs`
    const logs = await logsOf(execution.id)
    const as = (accept: string, query: Record<string, QueryValue> = {}) =>
      client.call<string>('GET', path, { headers: { accept }, query })
    const plain = await as('text/plain')
    expect(plain.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const lines = logs.map(({ timestamp, level, message }) => `${timestamp} ${level} ${message}\n`)
    expect(plain.text).toBe(lines.join(''))
    const ndjson = await as('application/x-ndjson')
    expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(
      ndjson.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as LogEntry),
    ).toEqual(logs)
    expect((await as('text/plain', { level: 'WARNING' })).text).toBe(lines.at(-1))
    for (const accept of [
      'application/json, text/plain, */*',
      '*/*',
      'text/plain;q=0.5, application/json',
      'image/png',
    ])
      expect((await as(accept)).headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('a run without output has an empty log', async () => {
    const { execution } = await runCode('return 1')
    expect((await client.get(`/executions/${execution.id}/logs`)).body).toEqual({
      hasNextPage: false,
      page: 0,
      limit: 10,
      total: 0,
      data: [],
    })
  })

  test('NUL, invalid UTF-8, control characters and partial lines are kept or replaced, never an error', async () => {
    const { execution, logs } = await runCode(`console.log('a\\u0000b', '\\u001b[31mred', '\\ud800')
      process.stdout.write(Buffer.from([0xff, 0xfe, 0x41, 0x0a])); process.stdout.write('no newline at the end')`)
    expect(execution.status).toBe('FINISHED')
    expect(messagesOf(logs).join('\n')).toContain('no newline at the end')
    expect(messagesOf(logs).join('\n')).toContain('A')
  })

  test('10,000 lines are kept, then one entry says that the rest was dropped', async () => {
    const { execution, logs } = await runCode('for (let n = 0; n < 12_000; n += 1) console.log(n); return 1')
    expect(execution.status).toBe('FINISHED')
    expect(logs).toHaveLength(10_001)
    expect(logs.at(-1)?.message).toMatch(/drop/i)
    expect(logs[9999]?.message).toBe('9999')
  })

  test('above 5 MiB the rest is dropped and the log says so', async () => {
    const source = 'for (let n = 0; n < 100; n += 1) console.log("y".repeat(60_000)); return 1'
    const { execution, logs } = await runCode(source)
    expect(execution.status).toBe('FINISHED')
    const size = logs.reduce((sum, { message }) => sum + message.length, 0)
    expect(size).toBeLessThanOrEqual(5 * 1024 * 1024 + 1000)
    expect(logs.at(-1)?.message).toMatch(/drop/i)
  })
})
