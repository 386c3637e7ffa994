import { describe, expect, test } from 'vitest'
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

  test('values are written as a console writes them', async () => {
    const { logs } =
      await runCode(`console.log('%s is %d', 'a', 5, { b: [1] }); console.log([1, 'x']); console.log(new Error('inner').message)
      console.log(); console.table([{ a: 1 }]); console.log('two\\nlines')`)
    const messages = messagesOf(logs)
    expect(messages[0]).toBe('a is 5 { b: [ 1 ] }')
    expect(messages[1]).toBe("[ 1, 'x' ]")
    expect(messages.join('\n')).toContain('two\nlines')
  })

  test('the output of child processes is logged too', async () => {
    const { logs } = await runCode(`const { execSync, spawnSync } = require('child_process')
      execSync('echo from-shell; echo to-err >&2', { stdio: 'inherit' }); console.log('after')`)
    expect(logs.map(({ level, message }) => `${level} ${message}`)).toEqual(
      expect.arrayContaining(['INFO from-shell', 'ERROR to-err', 'INFO after']),
    )
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

  test('order is kept within a microsecond and between stdout and console', async () => {
    const { logs } = await runCode(
      'for (let n = 0; n < 300; n += 1) { if (n % 3) console.log(`${n}`); else process.stdout.write(`${n}\\n`) }',
    )
    expect(messagesOf(logs)).toEqual(Array.from({ length: 300 }, (_, n) => `${n}`))
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

  test.for([
    ['in many long lines', 'for (let n = 0; n < 100; n += 1) console.log("y".repeat(60_000)); return 1', /drop/i],
    ['in one line of 20 MB', 'console.log("x".repeat(20_000_000)); return 1', /drop|cut/i],
    ['in raw output without a newline', 'process.stdout.write("z".repeat(20_000_000)); return 1', /drop|cut/i],
  ] as const)('above 5 MiB, %s, the rest is dropped and the log says so', async ([, source, words]) => {
    const { execution, logs } = await runCode(source)
    expect(execution.status).toBe('FINISHED')
    const size = logs.reduce((sum, { message }) => sum + message.length, 0)
    expect(size).toBeLessThanOrEqual(5 * 1024 * 1024 + 1000)
    expect(logs.at(-1)?.message).toMatch(words)
  })

  test('the error of a run is logged even where its log is full', async () => {
    const { logs } = await runCode('for (let n = 0; n < 11_000; n += 1) console.log(n); throw new Error("at the end")')
    expect(logs.some(({ level, message }) => level === 'ERROR' && message.includes('at the end'))).toBe(true)
  })
})
