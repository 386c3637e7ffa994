import { describe, expect, test } from 'vitest'
import { awaitLogs, execute, awaitEnd, expectLastWord, makeProcess, executeSync, runCode, valueOf } from './runs.ts'

const explanationOf = async (source: string, input: Record<string, unknown> = {}) => {
  const { execution } = await runCode(source, input)
  expect(execution.status).toBe('ERROR')
  return execution.timeline.events.at(-1)?.explanation ?? ''
}

describe('how a run ends', () => {
  test('when the value is there the run is over: open timers and handles are not waited for', async () => {
    const started = performance.now()
    const source = `setInterval(() => console.log('tick'), 50); setTimeout(() => {}, 200_000)
      require('net').createServer().listen(0); return 'value'`
    expect(await valueOf(source)).toBe('value')
    expect(performance.now() - started).toBeLessThan(30_000)
  })

  test.for([
    ['a throw', 'throw new TypeError("wrong")', /^TypeError: wrong$/],
    ['an error of an own class', 'class Own extends Error { name = "Own" } throw new Own("mine")', /^Own: mine$/],
    ['a thrown text', 'throw "just text"', /just text/],
    ['a thrown object', 'throw { code: 7 }', /7|object/i],
    ['a thrown null', 'throw null', /null/],
    ['a rejected promise', 'return Promise.reject(new RangeError("far"))', /^RangeError: far$/],
    ['a throw in main', 'module.exports = { main() { throw new Error("in main") } }', /^Error: in main$/],
    [
      'a throw in a timer',
      'setTimeout(() => { throw new Error("later") }, 5); await new Promise(() => setTimeout(() => {}, 5000))',
      /^Error: later$/,
    ],
    [
      'an unhandled rejection',
      'Promise.reject(new Error("nobody")); await new Promise((done) => setTimeout(done, 2000))',
      /^Error: nobody$/,
    ],
    [
      'an unhandled rejection just before the value',
      'Promise.reject(new Error("nobody")); return 1',
      /^Error: nobody$/,
    ],
    ['a promise that can never settle', 'await new Promise(() => {})', /settle|never|pending/i],
    ['main that can never settle', 'module.exports = { main: () => new Promise(() => {}) }', /settle|never|pending/i],
    ['process.exit(0)', 'process.exit(0)', /exit/i],
    ['process.exit(3)', 'process.exit(3)', /exit/i],
    ['process.abort', 'process.abort()', /\S/],
    [
      'kill of itself',
      'process.kill(process.pid, "SIGKILL"); await new Promise((done) => setTimeout(done, 5000))',
      /\S/,
    ],
    [
      'process.exitCode and exit in a timer',
      'setTimeout(() => process.exit(), 5); await new Promise((done) => setTimeout(done, 5000))',
      /exit/i,
    ],
    ['a stack overflow', 'const f = () => f() + 1; return f()', /^RangeError: Maximum call stack/],
    [
      'every descriptor closed',
      'for (let fd = 0; fd < 30; fd += 1) { try { require("fs").closeSync(fd) } catch {} } return 1',
      /\S/,
    ],
  ] as const)('%s is ERROR with the reason', async ([, source, explanation]) => {
    expect(await explanationOf(source)).toMatch(explanation)
  })

  test.for([
    ['a cyclic value', 'const a = {}; a.a = a; return a', /circular|cyclic|serial|JSON/i],
    ['a BigInt', 'return { n: 1n }', /BigInt|serial|JSON/i],
    ['a function', 'return () => 1', /function|serial|JSON/i],
    ['a symbol', 'return Symbol("a")', /symbol|serial|JSON/i],
    ['a throwing toJSON', 'return { toJSON() { throw new Error("no json") } }', /no json|serial|JSON/i],
    ['20,000 levels', 'let a = {}; for (let n = 0; n < 20_000; n += 1) a = { a }; return a', /\S/],
    ['a value above the limit', 'return "x".repeat(6 * 1024 * 1024)', /large|limit|size|MiB|bytes/i],
  ] as const)('%s as return value is ERROR that says so, or is kept whole', async ([, source, explanation]) => {
    const { execution } = await runCode(source)
    if (execution.status === 'FINISHED') expect(source).toContain('20_000')
    else expect(execution.timeline.events.at(-1)?.explanation).toMatch(explanation)
  })

  test.for([
    ['a date', 'return new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['a map', 'return new Map([[1, 2]])', {}],
    ['NaN', 'return NaN', null],
    ['undefined members', 'return { a: undefined, b: [undefined] }', { b: [null] }],
    ['a Buffer', 'return Buffer.from("a")', { type: 'Buffer', data: [97] }],
    ['4 MiB', 'return "x".repeat(4 * 1024 * 1024).length', 4 * 1024 * 1024],
    ['NUL and lone surrogates', 'return "a\\u0000b"', 'a\u0000b'],
  ] as const)('%s is returned as JSON has it', async ([, source, value]) => {
    expect(await valueOf(source)).toEqual(value)
  })

  test('a value just below the limit arrives whole and is stored', async () => {
    const { answer, execution } = await runCode('return "y".repeat(5 * 1024 * 1024 - 100)')
    expect(answer.status).toBe(203)
    expect((answer.body as string).length).toBe(5 * 1024 * 1024 - 100)
    expect(execution.returnValue?.length).toBe(5 * 1024 * 1024 - 98)
  })

  test.for([
    ['the heap', 'const a = []; for (;;) a.push(new Array(1e5).fill({}).map((_, n) => ({ n })))'],
    ['buffers', 'const a = []; for (;;) a.push(Buffer.alloc(32 * 1024 * 1024, 1))'],
  ] as const)(
    'running out of memory in %s ends the run alone, with the reason',
    { timeout: 130_000 },
    async ([, source]) => {
      const process = await makeProcess({ sourceCode: source })
      const beside = await makeProcess({ sourceCode: 'return 1' })
      const id = await execute(process)
      expect((await executeSync(beside)).body).toBe(1)
      const execution = await awaitEnd(id, 120_000)
      expect(execution.status).toBe('ERROR')
      expect(execution.timeline.events.at(-1)?.explanation).toMatch(/memory|allocation|RangeError/i)
      await expectLastWord(execution)
    },
  )

  test("an error is logged with its stack, in the user's own line numbers", async () => {
    const source = ['const a = 1', '', 'function deep() {', "  throw new Error('on line 4')", '}', 'deep()'].join('\n')
    const { logs } = await runCode(source)
    const error = logs.find(({ level }) => level === 'ERROR')
    expect(error?.message).toContain('Error: on line 4')
    expect(error?.message).toMatch(/deep.*[: ]4:\d+/)
    expect(error?.message).toMatch(/[: ]6:\d+/)
    expect(error?.message).not.toMatch(/\/apps\/|node_modules|harness|node:internal/)
  })

  test.for([
    ['the first line', "throw new Error('x')", /[: ]1:7\b/],
    ['an ES module', "import 'node:fs'\nexport const main = () => {\n  throw new Error('x')\n}", /[: ]3:\d+/],
    ['after an await', "await null\n\nthrow new Error('x')", /[: ]3:7\b/],
  ] as const)('line numbers are right in %s', async ([, source, location]) => {
    const { logs } = await runCode(source)
    expect(logs.find(({ level }) => level === 'ERROR')?.message).toMatch(location)
  })

  test('a syntax error names its line', async () => {
    const { logs } = await runCode('const a = 1\nconst b = 2\nconst = 3\n')
    expect(logs.find(({ level }) => level === 'ERROR')?.message).toMatch(/[: (]3\b/)
  })

  test('what was logged before the end is there, the error last', async () => {
    const id = await execute(
      await makeProcess({ sourceCode: 'for (let n = 0; n < 200; n += 1) console.log(n); throw new Error("end")' }),
    )
    await awaitEnd(id)
    const logs = await awaitLogs(id, (entries) => entries.length >= 201)
    expect(logs.slice(0, 200).map(({ message }) => message)).toEqual(Array.from({ length: 200 }, (_, n) => `${n}`))
    expect(logs.at(-1)).toMatchObject({ level: 'ERROR', message: expect.stringContaining('Error: end') })
  })
})
