import { framesOf } from '@automation/errors/code-frames'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines } from './scripted-replica.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner({ RETURN_VALUE_MAX_BYTES: '100000' })
})
afterAll(() => under.stop())

const values: [guarantee: string, source: string, value: unknown, transient?: boolean][] = [
  ['undefined is null', 'return undefined', null],
  ['a string', 'return "a\\u0000\\ud800ü"', 'a\u0000\ud800ü'],
  [
    'what JSON makes of dates, NaN and functions inside',
    'return { d: new Date(0), n: NaN, f() {} }',
    { d: '1970-01-01T00:00:00.000Z', n: null },
  ],
  ['a returned promise is awaited', 'return Promise.resolve([1])', [1]],
  ['timers left open are stopped', 'setInterval(() => {}, 5); setTimeout(() => {}, 1e6); return 1', 1],
  ['handles left open are closed', 'require("net").createServer().listen(0); return 1', 1],
  [
    'promises left open are left',
    'new Promise(() => {}); fetchLater(); return 1\nasync function fetchLater() { await new Promise(() => {}) }',
    1,
  ],
  ['a transient body is delivered alone', 'return { isTransient: true, body: { a: 1 } }', { a: 1 }, true],
  ['transient data too', 'return { transient: true, data: [1] }', [1], true],
  [
    'a transient response keeps its form',
    'return { isTransient: true, status: 201, headers: { a: "b" }, body: "x" }',
    { status: 201, headers: { a: 'b' }, body: 'x' },
    true,
  ],
  [
    'a transient response with a status keeps it, whatever else is there',
    'return { isTransient: true, status: 401, body: "no", reason: "x" }',
    { status: 401, body: 'no', reason: 'x' },
    true,
  ],
  [
    'one without a status is no response where more is there',
    'return { isTransient: true, headers: {}, body: "x", more: 1 }',
    'x',
    true,
  ],
  ['only the mark true is one', 'return { isTransient: "true", body: 1 }', { isTransient: 'true', body: 1 }],
  ['a map and a Buffer', 'return [new Map([[1, 2]]), Buffer.from("a")]', [{}, { type: 'Buffer', data: [97] }]],
  ['20,000 levels', 'let a = 1; for (let i = 0; i < 20000; i++) a = [a]; return JSON.stringify(a).length', 40_001],
  ['a value as large as is allowed', 'return "x".repeat(99998)', 'x'.repeat(99998)],
  [
    'user handlers of rejections count as handled',
    'process.on("unhandledRejection", () => {}); Promise.reject(1); await new Promise((r) => setTimeout(r, 5)); return 1',
    1,
  ],
  ['a rejection that is handled later in the same turn', 'const p = Promise.reject(1); p.catch(() => {}); return 1', 1],
]

describe('what ends well', () => {
  test.for(values)('%s', async ([, source, value, transient = false]) => {
    const ended = await under.replica.run(source)
    expect(ended.explanation).toBeUndefined()
    expect(ended.value).toEqual(value)
    expect(ended.transient).toBe(transient)
  })
})

const failures: [guarantee: string, source: string, explanation: RegExp][] = [
  ['a throw', 'throw new TypeError("no")', /^TypeError: no$/],
  [
    'a throw of the user’s own class',
    'class OwnError extends Error { name = "OwnError" }; throw new OwnError("mine")',
    /^OwnError: mine$/,
  ],
  ['a throw in main', 'module.exports = { main() { throw new Error("in main") } }', /^Error: in main$/],
  ['a rejected promise', 'return Promise.reject(new RangeError("far"))', /^RangeError: far$/],
  ['a stack overflow', 'const f = () => f() + 1; return f()', /^RangeError: Maximum call stack/],
  ['a throw of a string', 'throw "words"', /^Error: words$/],
  ['a throw of an object', 'throw { a: 1 }', /^Error: \{ a: 1 \}$/],
  ['a throw of nothing', 'throw undefined', /^Error: undefined$/],
  [
    'a throw of something that throws',
    'throw { get message() { throw 1 }, [Symbol.for("nodejs.util.inspect.custom")]() { throw 2 } }',
    /^Error: What was thrown can't be shown$/,
  ],
  [
    'a missing browser, with what to do',
    'throw new Error("Could not find Chrome (ver. 131.0). This can occur if either\\n 1. you did not perform an installation")',
    /^Error: Could not find Chrome \(ver\. 131\.0\)\. This can occur if either; runs have no browser, .*\n 1\. you did not/,
  ],
  ['an error without a message', 'throw new Error()', /^Error$/],
  ['process.exit(0) before the value', 'process.exit(0)', /^Error: process.exit\(0\) was called before/],
  [
    'process.exit(3) in a timer',
    'setTimeout(() => process.exit(3), 1); await new Promise(() => {})',
    /^Error: process.exit\(3\)/,
  ],
  ['process.reallyExit', 'process.reallyExit(4)', /^Error: The process ended \(exit code 4\) before/],
  ['abort', 'process.abort()', /^Error: The process was ended by SIGABRT$/],
  [
    'a kill of itself',
    'process.kill(process.pid, "SIGKILL"); await new Promise((r) => setTimeout(r, 1e5))',
    /^Error: The process was ended by SIGKILL$/,
  ],
  ['a rejection that nobody handles', 'Promise.reject(new RangeError("lost")); return 1', /^RangeError: lost$/],
  [
    'a rejection in a forgotten call',
    'work(); await new Promise((r) => setTimeout(r, 20)); return 1\nasync function work() { await null; throw new Error("forgotten") }',
    /^Error: forgotten$/,
  ],
  [
    'an exception in a timer',
    'setTimeout(() => null.a, 1); await new Promise((r) => setTimeout(r, 1e5))',
    /^TypeError: Cannot read/,
  ],
  [
    'a promise that can never settle',
    'await new Promise(() => {})',
    /^Error: The run waits for a promise that can never settle$/,
  ],
  [
    'all descriptors closed',
    'for (let fd = 0; fd < 20; fd++) try { require("fs").closeSync(fd) } catch {}\nreturn 1',
    /^Error: The process/,
  ],
  ['a BigInt', 'return { a: 1n }', /^TypeError: The return value can't be written as JSON: .*BigInt/],
  [
    'a BigInt deep inside',
    'const at = { "unit price": [1, 2n] }; return { rows: [{ at: 1n.toString() }, { at }] }',
    /can't be written as JSON: Do not know how to serialize a BigInt, at rows\[1\]\.at\["unit price"\]\[1\]$/,
  ],
  ['a cycle', 'const a = {}; a.a = a; return a', /^TypeError: The return value can't be written as JSON: .*circular/],
  ['a function', 'return () => 1', /^TypeError: The return value can't be written as JSON: it is \[Function/],
  ['a symbol', 'return Symbol("a")', /can't be written as JSON: it is Symbol/],
  ['a throwing toJSON', 'return { toJSON() { throw new Error("mine") } }', /can't be written as JSON: mine$/],
  ['too large', 'return "x".repeat(100001)', /^RangeError: The return value has more than the 100000 bytes/],
  ['too large in UTF-8', 'return "€".repeat(40000)', /^RangeError: The return value has more than/],
]

describe('what ends as an error, in words', () => {
  test.for(failures)('%s', async ([, source, explanation]) => {
    const ended = await under.replica.run(source)
    expect(ended.explanation).toMatch(explanation)
    const last = lines(ended.log).at(-1)!
    expect(last).toContain(`ERROR ${ended.explanation!.split('\n')[0]}`)
  })

  test('the log line has the stack with the user’s frames, and the cause', async () => {
    const source = 'function inner() {\n  throw new Error("outer", { cause: new TypeError("deep") })\n}\ninner()'
    const { log } = await under.replica.run(source)
    const { message } = log.at(-1)!
    expect(message).toMatch(/^Error: outer\n {4}at inner \(demo\.js:2:9\)\n {4}at demo\.js:4:1\n/)
    expect(message).toContain('[cause]: TypeError: deep\n    at inner (demo.js:2:')
  })

  test('the log line has what is plain of the properties of an error and of its causes, each behind its own frames', async () => {
    const source = `const cause = Object.assign(new Error('deep'), { code: 'E_DEEP', request: { headers: { key: 'k' } } })
      throw Object.assign(new TypeError('outer', { cause }), { status: 404, code: 'E_OUT', name: 'Own', isFinal: true })`
    const { log, explanation } = await under.replica.run(source)
    expect(explanation).toBe('Own: outer')
    expect(log.at(-1)!.message.replaceAll(/\n {4}at .*/g, '')).toBe(
      "Own: outer\n  status: 404\n  code: 'E_OUT'\n  isFinal: true\n  [cause]: Error: deep\n  code: 'E_DEEP'",
    )
  })

  test('an error that does not let its properties be seen is shown, and a name of one is part of its line', async () => {
    const closed = 'throw new Proxy(new Error("closed"), { ownKeys() { throw new Error("no") } })'
    expect((await under.replica.run(closed)).explanation).toBe('Error: closed')
    const { log } = await under.replica.run("throw Object.assign(new Error('a'), { ['b\\n    at c']: 1 })")
    expect(log.at(-1)!.message).toMatch(/\n {2}b at c: 1$/)
  })

  const message = 'two\n    at other.js:9:9'
  const elsewhere = '\nawait require("vm").runInThisContext("async () => { await null; null.a }", "other.js")()'
  const placed: [what: string, source: string, places: string[]][] = [
    [
      'awaited',
      'const f = async () => {\n  await null\n  null.a\n}\nawait (async () => {\n  await f()\n})()',
      ['f 3', '6', '5'],
    ],
    ['of what is awaited', elsewhere, ['other.js:1', '2']],
    ['evaluated', '\neval("null.a")', ['eval 2', '2']],
    ['evaluated by what is evaluated', '\neval("eval(\'null.a\')")', ['eval 2', 'eval 2', '2']],
    ['with lines like frames', `\nthrow new Error(${JSON.stringify(message)})`, ['2']],
    ['with a cause', '\nconst cause = new Error("deep")\nthrow new Error("outer", { cause })', ['3']],
    ['of several', '\nthrow new AggregateError([new Error("a")], "many")', ['2']],
    ['of syntax', '\nconst = 2', ['2']],
  ]
  test.for(placed)(
    'the places of an error %s are its own, and so is the line of its result',
    async ([, source, places]) => {
      const { explanation = '', log, result } = await under.replica.run(source)
      const frames = framesOf(log.at(-1)!.message, explanation)
      const shown = frames.map(({ function: name = '', file, line }) =>
        `${name} ${file}:${line}`.replace('demo.js:', '').trim(),
      )
      expect(shown).toEqual(places)
      expect(result.end.value).toMatchObject({ line: frames.find(({ file }) => file === 'demo.js')!.line })
    },
  )

  test('text that a database refuses does not reach the explanation', async () => {
    const ended = await under.replica.run('throw new Error("a\\0b\\ud800")')
    expect(ended.explanation).toBe('Error: a\uFFFDb\uFFFD')
  })

  test('the fence travels with the result', async () => {
    const { result } = await under.replica.run('return 1', { run: { fence: 77n } })
    expect(result.fence).toBe(77n)
  })
})
